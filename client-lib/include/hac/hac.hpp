/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhac for C++17: handles that free themselves, errors as exceptions, spans of numbers by their types.
 * Everything is in this header, over <hac/hac.h>, which has the rules and the meaning of every option.
 *
 *     hac::client client;                                        // may start a private daemon
 *     hac::buffer keys = client.allocate(n * sizeof(float));
 *     fill(keys.data<float>(), n);                               // devices work on this very memory
 *     hac::job sorted = client.sort<float>(keys, n);
 *     const float *values = sorted.wait().data<float>();
 *
 *     hac::query query;
 *     query.where("price > 10").group_by("city").select("sum(price) as s").order_by("s desc");
 *     hac::columns result = client.query_files({"sales.csv"}, query).wait().columns();
 *     const double *sums = result.values<double>(1);             // column 1, where the devices wrote it
 *
 * A handle is moved, not copied. Columns and streams may outlive their client; jobs and buffers may be
 * destroyed later, and not read. The C handle of each is get().
 */
#ifndef HAC_HAC_HPP
#define HAC_HAC_HPP

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <hac/hac.h>

namespace hac
{

/* What a call has failed with: its code, and in what() one line for people. */
class error : public std::runtime_error
{
  public:
    explicit error(const hac_error &why) : std::runtime_error(why.message), code_(why.code) {}
    hac_status code() const noexcept { return code_; }

  private:
    hac_status code_;
};

namespace detail
{
/* Calls a function of libhac whose last argument is the error. */
template <class Function, class... Arguments> void call(Function function, Arguments... arguments)
{
    hac_error err = HAC_ERROR_NONE;
    if (function(arguments..., &err) != HAC_OK)
        throw error(err);
}

template <auto Free> struct deleter {
    template <class Handle> void operator()(Handle *handle) const noexcept { Free(handle); }
};

template <class T> constexpr hac_type type_of()
{
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "keys are u32, i32, f32, u64, i64 or f64");
    constexpr bool wide = sizeof(T) == 8;
    if (std::is_floating_point_v<T>)
        return wide ? HAC_TYPE_F64 : HAC_TYPE_F32;
    if (std::is_signed_v<T>)
        return wide ? HAC_TYPE_I64 : HAC_TYPE_I32;
    return wide ? HAC_TYPE_U64 : HAC_TYPE_U32;
}

/* The Arrow format of the numbers that a value of T is. */
template <class T> constexpr char format_of()
{
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8,
                  "values are integers, float or double; columns of bool are bits, in columns::array()");
    if (std::is_floating_point_v<T>)
        return sizeof(T) == 8 ? 'g' : 'f';
    constexpr char letter = sizeof(T) == 1 ? 'c' : sizeof(T) == 2 ? 's' : sizeof(T) == 4 ? 'i' : 'l';
    return std::is_signed_v<T> ? letter : static_cast<char>(letter - 'a' + 'A');
}

/* The Arrow format of the numbers in which a column of `format` lies; NUL: it is of no single numbers. */
inline char format_of(const std::string &format)
{
    if (format == "tdD")
        return 'i';
    if (format.compare(0, 2, "ts") == 0)
        return 'l';
    return format.size() == 1 && format.find_first_of("cCsSiIlLfg") == 0 ? format[0] : '\0';
}

template <class Arrow> void release(Arrow &arrow) noexcept
{
    if (arrow.release != nullptr)
        arrow.release(&arrow);
}
} // namespace detail

/* Pool memory, aligned to 64 bytes. */
class buffer
{
  public:
    explicit buffer(hac_buffer *handle) : handle_(handle) {}
    template <class T> T *data() const { return static_cast<T *>(hac_buffer_data(handle_.get())); }
    std::uint64_t bytes() const { return hac_buffer_bytes(handle_.get()); }
    hac_buffer *get() const noexcept { return handle_.get(); }

  private:
    std::unique_ptr<hac_buffer, detail::deleter<hac_buffer_free>> handle_;
};

/* Columns of Arrow that hold a result. */
class columns
{
  public:
    columns() = default;
    columns(columns &&other) noexcept
        : schema_(std::exchange(other.schema_, {})), array_(std::exchange(other.array_, {})) {}
    columns &operator=(columns &&other) noexcept
    {
        std::swap(schema_, other.schema_);
        std::swap(array_, other.array_);
        return *this;
    }
    ~columns()
    {
        detail::release(schema_);
        detail::release(array_);
    }
    std::int64_t rows() const noexcept { return array_.length; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(array_.n_children); }
    std::string name(std::size_t column) const { return child(schema_, column).name; }
    /* The values of a column of fixed width, which must have the type T: HAC_INVALID otherwise. Dates are
     * std::int32_t, timestamps std::int64_t; the values of null rows are undefined. */
    template <class T> const T *values(std::size_t column) const
    {
        const char *format = child(schema_, column).format;
        if (detail::format_of(format) != detail::format_of<T>()) {
            hac_error err = HAC_ERROR_NONE;
            err.code = HAC_INVALID;
            std::snprintf(err.message, sizeof(err.message),
                          "the values of column %zu, of Arrow format \"%.40s\", are read as another type",
                          column, format);
            throw error(err);
        }
        return static_cast<const T *>(child(array_, column).buffers[1]);
    }
    bool is_null(std::size_t column, std::int64_t row) const
    {
        const auto *valid = static_cast<const std::uint8_t *>(child(array_, column).buffers[0]);
        return valid != nullptr && (valid[row / 8] >> (row % 8) & 1) == 0;
    }
    /* The structures themselves, which other libraries of Arrow take over by setting release to NULL. */
    ArrowSchema &schema() noexcept { return schema_; }
    ArrowArray &array() noexcept { return array_; }

  private:
    template <class Arrow> static const Arrow &child(const Arrow &parent, std::size_t column)
    {
        if (column >= static_cast<std::size_t>(parent.n_children))
            throw std::out_of_range("there is no column " + std::to_string(column));
        return *parent.children[column];
    }
    ArrowSchema schema_{};
    ArrowArray array_{};
};

/* A job. Destroying the handle of one that has not ended cancels it. */
class job
{
  public:
    explicit job(hac_job *handle) : handle_(handle) {}
    /* Waits for the end of the job. */
    job &wait()
    {
        detail::call(hac_job_wait, get(), -1);
        return *this;
    }
    void cancel() { detail::call(hac_job_cancel, get()); }
    /* The result's bytes, valid as long as the job. */
    template <class T> const T *data() const { return static_cast<const T *>(hac_job_data(get())); }
    std::uint64_t bytes() const { return hac_job_bytes(get()); }
    std::uint64_t id() const { return hac_job_id(get()); }
    /* The result of a query as columns. They hold the job's memory. */
    hac::columns columns() const
    {
        hac::columns result;
        detail::call(hac_job_export_arrow, get(), &result.schema(), &result.array());
        return result;
    }
    /* The result as a stream for other libraries; the caller releases it. */
    ArrowArrayStream stream() const
    {
        ArrowArrayStream result{};
        detail::call(hac_job_export_arrow_stream, get(), &result);
        return result;
    }
    hac_job *get() const noexcept { return handle_.get(); }

  private:
    std::unique_ptr<hac_job, detail::deleter<hac_job_free>> handle_;
};

/* The texts of a query, and in `options` all the rest. */
class query
{
  public:
    hac_query_options options = HAC_QUERY_OPTIONS_INIT;

    query()
    {
        options.result_format = HAC_RESULT_TABLE;
        options.infer_schema = 1;
        options.find = HAC_FIND_DELIMITER | HAC_FIND_HEADER;
    }
#define HAC_QUERY_TEXT(name)                                                                                 \
    query &name(std::string text)                                                                            \
    {                                                                                                        \
        name##_ = std::make_shared<const std::string>(std::move(text));                                      \
        options.name = name##_->c_str();                                                                     \
        return *this;                                                                                        \
    }
    HAC_QUERY_TEXT(schema)
    HAC_QUERY_TEXT(where)
    HAC_QUERY_TEXT(group_by)
    HAC_QUERY_TEXT(having)
    HAC_QUERY_TEXT(select)
    HAC_QUERY_TEXT(order_by)
#undef HAC_QUERY_TEXT
    query &limit(std::uint64_t rows)
    {
        options.limit = rows;
        return *this;
    }

  private:
    std::shared_ptr<const std::string> schema_, where_, group_by_, having_, select_, order_by_;
};

/* A connection to the daemon. */
class client
{
  public:
    /* `socket` empty: the system's daemon, else a private one. */
    explicit client(const std::string &socket = {})
    {
        hac_connect_options options = HAC_CONNECT_OPTIONS_INIT;
        options.socket = socket.empty() ? nullptr : socket.c_str();
        hac_client *handle = nullptr;
        detail::call(hac_client_connect, &options, &handle);
        handle_.reset(handle);
    }
    buffer allocate(std::uint64_t bytes)
    {
        hac_buffer *handle = nullptr;
        detail::call(hac_buffer_alloc, get(), bytes, &handle);
        return buffer(handle);
    }
    /* Sorts the first `items` numbers of a buffer, which must live until the job has ended. */
    template <class T>
    job sort(const buffer &keys, std::uint64_t items, hac_sort_options options = HAC_SORT_OPTIONS_INIT)
    {
        hac_job *handle = nullptr;
        options.type = detail::type_of<T>();
        detail::call(hac_sort_buffer, get(), keys.get(), std::uint64_t{0}, items, &options, &handle);
        return job(handle);
    }
    template <class T>
    job sort(const std::vector<T> &keys, hac_sort_options options = HAC_SORT_OPTIONS_INIT)
    {
        hac_job *handle = nullptr;
        options.type = detail::type_of<T>();
        detail::call(hac_sort_memory, get(), static_cast<const void *>(keys.data()),
                     static_cast<std::uint64_t>(keys.size()), &options, &handle);
        return job(handle);
    }
    /* Queries files as one source. Their format is that of the first one's suffix, unless the query says
     * it. */
    job query_files(const std::vector<std::string> &paths, const query &query)
    {
        struct descriptors {
            std::vector<int> fds;
            ~descriptors()
            {
                for (int fd : fds)
                    ::close(fd);
            }
        } open;
        std::vector<const char *> names;
        hac_query_options options = query.options;
        for (const std::string &path : paths) {
            int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
            if (fd < 0)
                throw std::runtime_error(path + ": cannot be opened");
            open.fds.push_back(fd);
            names.push_back(path.c_str());
        }
        if (options.input_format == HAC_INPUT_NONE && !paths.empty())
            options.input_format = hac_input_format_of(names[0]);
        hac_job *handle = nullptr;
        detail::call(hac_query_files, get(), static_cast<const int *>(open.fds.data()),
                     static_cast<const char *const *>(names.data()), names.size(),
                     static_cast<const hac_query_options *>(&options), &handle);
        return job(handle);
    }
    /* Queries the batches of a stream, and releases it. */
    job query_stream(ArrowArrayStream &stream, const query &query)
    {
        hac_job *handle = nullptr;
        detail::call(hac_query_arrow_stream, get(), &stream, &query.options, &handle);
        return job(handle);
    }
    hac_client *get() const noexcept { return handle_.get(); }

  private:
    std::unique_ptr<hac_client, detail::deleter<hac_client_free>> handle_;
};

} // namespace hac
#endif
