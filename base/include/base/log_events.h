/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of records in the log. Each has an id that stays the same in all releases: the journal's field
 * MESSAGE_ID, 128 random bits, by which records are found (`journalctl MESSAGE_ID=…`). docs/metrics.md lists
 * them; a test compares. New kinds get new ids (`systemd-id128 new`); an id is never given to another kind.
 */
#ifndef BASE_LOG_EVENTS_H
#define BASE_LOG_EVENTS_H

/* X(CONSTANT, name in text, MESSAGE_ID, what has happened) */
#define HAC_LOG_EVENTS(X)                                                                                    \
    X(OTHER, "message", "f4828b14ed4d47ca86eb91c516469e84", "anything that has no kind of its own")          \
    X(FAILED, "daemon-failed", "9cb8eea0b4eb4ef2a927622f7a548d1e", "hacd cannot start, or cannot go on")     \
    X(LEAVING, "daemon-leaving", "9645bb1c095748a5b017c272b16ff6b6",                                         \
      "hacd takes no new jobs and leaves when the running ones are done")                                    \
    X(RELOADED, "reloaded", "4b388981ef674a45b0d10edde7e43656",                                              \
      "configuration, profiles and devices were read again")                                                 \
    X(RELOAD_REFUSED, "reload-refused", "e7872a5adf8048fc9072f8ccfbb5ba3d",                                  \
      "a new configuration is wrong; the old one stays")                                                     \
    X(PROFILE, "profile-left-out", "1642b95b758c4ee0ad4e68c0d33a410d",                                       \
      "a device profile is wrong and is left out")                                                           \
    X(DEVICE, "device-found", "d1a1dafbb2794f9885625e8b83f7d373", "a device was found")                      \
    X(DEVICE_REMOVED, "device-removed", "63b484593c254544a3cf8098fabaff9a",                                  \
      "a reload has removed a device, or given it other settings")                                           \
    X(NO_DEVICE, "devices-missing", "696e45b20bea4b89bdf864363de952b0",                                      \
      "devices cannot be found, or are left out")                                                            \
    X(DEVICE_UNUSABLE, "device-unusable", "aa54acc5193d4c97a6625f86312641e7",                                \
      "a device cannot be used until the next reload")                                                       \
    X(DEVICE_RESTS, "device-rests", "702680afc3954aaa8b177b43c6238516",                                      \
      "a device rests, because none of its executors gets ready")                                            \
    X(PROGRAM, "program-missing", "dbaf674d28564db0b6d9762d1352478c",                                        \
      "a device does without a program that cannot be built")                                                \
    X(BUILDER_DIED, "builder-died", "e07df1bce999483f828240019a613252",                                      \
      "a process that builds kernels has died or was killed")                                                \
    X(START, "start-failed", "758e747603d749ba8dd25dcdf74687e7",                                             \
      "an executor or a builder cannot be started")                                                          \
    X(EXECUTOR_DIED, "executor-died", "bb3cb128c3a6405ab7c6087fd40af197",                                    \
      "an executor has died, which is held against its device")                                              \
    X(EXECUTOR_ENDED, "executor-ended", "4281fd015d924f7296d08f54abcbe102",                                  \
      "an executor has ended (level debug)")                                                                 \
    X(NONSENSE, "executor-nonsense", "e776253397a8451e93b944e7acf86e75",                                     \
      "an executor broke the protocol, or says that it cannot go on")                                        \
    X(REMARK, "executor-remark", "65c195e50378401eacd310efb67989e2",                                         \
      "what an executor, or a driver in it, has printed")                                                    \
    X(JOB_FAILED, "job-failed", "abcf7c25da1c4f91a531358018f3f38f", "a job has failed")                      \
    X(CONNECTION, "connection-ended", "312afaf2ef4a4a89afd0849c75958aeb",                                    \
      "hacd has ended a connection: its client broke the protocol, "                                         \
      "or did not read")                                                                                     \
    X(CONNECTION_REFUSED, "connection-refused", "e66775a71e304be380f6cb083330566a",                          \
      "a connection over a limit, or out of memory")                                                         \
    X(STATE, "state-unsaved", "5840f2054b984603964b95955de51341",                                            \
      "models or settings cannot be written; they are kept in memory")                                       \
    X(STATE_DAMAGED, "state-damaged", "25b8953539964190b6dc229a4b0a2cb7",                                    \
      "what was kept of models is damaged and left out")                                                     \
    X(NO_LANDLOCK, "landlock-missing", "eb9273126f754eeea308140cad1b59aa",                                   \
      "the kernel has no Landlock, which keeps users apart")                                                 \
    X(HTTP, "metrics-http", "20d330bfcd1247e1b6bbf64e52e6f17d",                                              \
      "metrics over HTTP: where they are, or why not")                                                       \
    X(LEFT_OUT, "records-left-out", "79435164e51d438ebf745f66e5b80476",                                      \
      "how many records of one kind and user were left out")                                                 \
    X(LOST, "records-lost", "2e238d3a75aa42e188af9d2b68c3471e", "how many records could not be written")

#endif
