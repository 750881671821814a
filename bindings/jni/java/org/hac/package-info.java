/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Queries on a machine's accelerators, through hacd: {@link org.hac.HacClient} runs a {@link org.hac.HacQuery} over
 * files, text or a {@link org.hac.HacTable}, and gives a {@link org.hac.HacResult} of columns.
 */
package org.hac;
