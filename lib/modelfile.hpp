// SPDX-License-Identifier: MIT
//
// modelfile.hpp - modelfile.h for C++17: owners, ranges, spans
//
//     modelfile::env env;
//     auto model = env.open("model.gguf");
//     if (!model)
//         return std::cerr << model.error().message << '\n', 1;
//     for (auto &tensor : model->tensors())
//         std::cout << tensor.name() << ' ' << tensor.type << '\n';
//     auto numbers = model->read<float>(0);      // of tensor 0
//
// What modelfile.h says of threads, errors and lifetimes holds here, too: text
// and shapes belong to the model.  A model keeps its env alive.
//
// Nothing is thrown, but std::bad_alloc by containers: what can fail returns a
// result, which is asked before it is used.  With MODELFILE_EXCEPTIONS defined,
// using a result that has failed throws modelfile::failure.
#ifndef MODELFILE_HPP
#define MODELFILE_HPP

#include <modelfile.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modelfile {

// ---- errors ----

struct error {
    mf_status status = MF_OK;
    std::string message;
};

class failure : public std::runtime_error {
public:
    explicit failure(const error &what)
        : std::runtime_error(what.message), status(what.status) {}
    mf_status status;
};

// A value, or why there is none.
template <class T> class result {
public:
    result(T value) : value_(std::move(value)) {}
    result(modelfile::error why) : error_(std::move(why)) {}

    explicit operator bool() const { return value_.has_value(); }
    const modelfile::error &error() const { return error_; }

    T &value()
    {
        if (!value_)
#ifdef MODELFILE_EXCEPTIONS
            throw failure(error_);
#else
            std::abort();
#endif
        return *value_;
    }
    T &operator*() { return value(); }
    T *operator->() { return &value(); }

private:

    std::optional<T> value_;
    modelfile::error error_;
};

// ---- small views ----

template <class T> class span {
public:
    span() = default;
    span(T *data, std::size_t size) : data_(data), size_(size) {}
    template <class C> span(C &of) : data_(of.data()), size_(of.size()) {}

    T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
    T &operator[](std::size_t i) const { return data_[i]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

inline std::string_view text(const mf_str &of)
{
    return of.at ? std::string_view(of.at, of.size) : std::string_view();
}

struct tensor : mf_tensor {
    std::size_t index = 0;

    std::string_view name() const { return modelfile::text(mf_tensor::name); }
};

struct meta : mf_meta {
    std::size_t index = 0;

    std::string_view key() const { return modelfile::text(mf_meta::key); }
};

struct finding : mf_finding { std::size_t index = 0; };

// All that a function of the library gives for 0, 1, 2 and so on.
template <class Item, class Row,
          bool (*at)(const mf_model *, std::size_t, Row *)>
class range {
public:
    class iterator {
    public:
        iterator() = default;
        explicit iterator(const mf_model *of) : model_(of) { load(); }

        const Item &operator*() const { return item_; }
        const Item *operator->() const { return &item_; }
        iterator &operator++()
        {
            item_.index++;
            load();
            return *this;
        }
        bool operator!=(const iterator &of) const { return model_ != of.model_; }

    private:
        void load()
        {
            if (!at(model_, item_.index, &item_))
                model_ = nullptr;
        }

        const mf_model *model_ = nullptr;
        Item item_;
    };

    explicit range(const mf_model *of) : model_(of) {}
    iterator begin() const { return iterator(model_); }
    iterator end() const { return iterator(); }

private:
    const mf_model *model_;
};

using tensors = range<tensor, mf_tensor, mf_tensor_at>;
using metadata = range<meta, mf_meta, mf_meta_at>;
using findings = range<finding, mf_finding, mf_finding_at>;

// ---- what elements are read as ----

template <class T> struct read_as;
template <mf_read_as As>
struct read_as_is { static constexpr mf_read_as value = As; };
template <> struct read_as<float> : read_as_is<MF_READ_F32> {};
template <> struct read_as<double> : read_as_is<MF_READ_F64> {};
template <> struct read_as<std::int64_t> : read_as_is<MF_READ_I64> {};

// ---- owners ----

using env_pointer = std::shared_ptr<mf_env>;

inline error last_error(const env_pointer &env)
{
    const mf_error *last = mf_env_error(env.get());

    return {last->status, last->message};
}

class model {
public:
    model(env_pointer env, mf_model *owned)
        : env_(std::move(env)), model_(owned, mf_model_close) {}

    mf_model *get() const { return model_.get(); }
    const struct mf_model_info &info() const { return *mf_model_info(get()); }
    modelfile::tensors tensors() const { return modelfile::tensors(get()); }
    modelfile::metadata metadata() const { return modelfile::metadata(get()); }
    modelfile::findings findings() const { return modelfile::findings(get()); }

    std::vector<std::uint64_t> shape(const mf_tensor &of) const
    {
        std::vector<std::uint64_t> out(MF_RANK_MAX);
        out.resize(mf_tensor_shape(get(), &of, out.data()));
        return out;
    }

    std::optional<tensor> find(std::string_view name) const
    {
        tensor out;
        return mf_tensor_find(get(), name.data(), name.size(), &out, &out.index)
                   ? std::optional<tensor>(out)
                   : std::nullopt;
    }

    std::optional<meta> find_meta(std::string_view key) const
    {
        meta out;
        return mf_meta_find(get(), key.data(), key.size(), &out, &out.index)
                   ? std::optional<meta>(out)
                   : std::nullopt;
    }

    // Elements from `first` on, as many as out has room for.
    template <class T>
    mf_status read(std::size_t index, std::uint64_t first, span<T> out)
    {
        return mf_tensor_read(get(), index, first, out.size(),
                              read_as<T>::value, out.data());
    }

    // All elements.
    template <class T> result<std::vector<T>> read(std::size_t index)
    {
        mf_tensor of{};
        std::vector<T> out;
        mf_tensor_at(get(), index, &of);
        if (read(index, 0, span<T>()) != MF_OK) // what it claims is true
            return last_error(env_);
        if (of.parameters > out.max_size())
            return error{MF_ERR_LIMIT, "it does not fit the address space"};
        out.resize(static_cast<std::size_t>(of.parameters));
        if (read(index, 0, span<T>(out)) != MF_OK)
            return last_error(env_);
        return out;
    }

    // An array of texts, such as a vocabulary.
    result<std::vector<std::string>> texts(std::size_t meta_index)
    {
        const mf_array *array = nullptr;
        std::vector<std::string> out;
        if (mf_values_read(get(), meta_index, &array) != MF_OK)
            return last_error(env_);
        std::unique_ptr<const mf_array, void (*)(const mf_array *)> owned(
            array, mf_array_free);
        if (array->of != MF_VALUE_STRING && array->count > 0)
            return error{MF_ERR_ARGUMENT, "the elements are not texts"};
        for (std::size_t i = 0; i < array->count; i++)
            out.emplace_back(
                text(static_cast<const mf_str *>(array->elements)[i]));
        return out;
    }

    mf_status validate() { return mf_model_validate(get()); }
    mf_status validate_data() { return mf_model_validate_data(get()); }

private:
    env_pointer env_;
    std::unique_ptr<mf_model, void (*)(mf_model *)> model_;
};

class env {
public:
    // Without memory get() is null, and what uses the env fails.
    explicit env(const mf_options *options = nullptr)
        : env_(mf_env_new(options), mf_env_free) {}
    explicit env(std::nullptr_t) : env() {}
    explicit env(mf_env *own) : env_(own, mf_env_free) {} // mf_env_new_with's
    mf_env *get() const { return env_.get(); }
    modelfile::error error() const { return last_error(env_); }

    result<model> open(const std::string &path,
                       const mf_open_options *options = nullptr)
    {
        mf_model *out = nullptr;

        mf_model_open(get(), path.c_str(), options, &out);
        return opened(out);
    }

    result<model> open(const mf_byte_source &source,
                       const mf_open_options *options = nullptr)
    {
        mf_model *out = nullptr;

        mf_model_open_source(get(), &source, options, &out);
        return opened(out);
    }

private:
    result<model> opened(mf_model *of)
    {
        return of ? result<model>(model(env_, of)) : last_error(env_);
    }

    env_pointer env_;
};

} // namespace modelfile

#endif
