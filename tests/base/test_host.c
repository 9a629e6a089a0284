/* SPDX-License-Identifier: MIT
 *
 * test_host.c - the library leaves the program that it is embedded in alone
 *
 * The program has threads of OpenMP, with values of its own, and forks.
 */
#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "lib/base/parallel.h"

#define THREADS 4
#define WORK    ((uint64_t)1 << 30) /* as much as pays for threads */

static const struct mf_options four = { .size = sizeof(four),
                                        .threads = THREADS };

/* ---- work ---- */

static atomic_bool shared; /* a worker, by two threads at once */

/* Long enough for two threads to meet. */
static void use(const struct mf_worker *worker)
{
    atomic_uchar *users = (atomic_uchar *)worker->buffer;

    if (atomic_fetch_add(users, 1) > 0)
        atomic_store(&shared, true);
    nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    atomic_fetch_sub(users, 1);
}

static enum mf_status count_task(struct mf_worker *worker, void *context,
                                 size_t task)
{
    (void)task;
    use(worker);
    atomic_fetch_add((atomic_size_t *)context, 1);
    mf_worker_done(worker, 1);
    return MF_OK;
}

/* Each of 100 tasks is done once. */
static enum mf_status do_work(struct mf_env *env, uint64_t size)
{
    struct mf_crew crew;
    atomic_size_t done = 0;
    enum mf_status status = mf_crew_init(&crew, env, size, size, 0);

    if (status != MF_OK)
        return status;
    for (size_t i = 0; i < crew.count; i++)
        *crew.worker[i].buffer = 0;
    status = mf_crew_run(&crew, count_task, &done, 100);
    mf_crew_release(&crew);
    if (status == MF_OK)
        assert_int_equal(atomic_load(&done), 100);
    assert_false(atomic_load(&shared));
    return status;
}

static void work_once(const struct mf_options *options)
{
    struct mf_env *env = mf_env_new(options);

    assert_non_null(env);
    assert_int_equal(do_work(env, WORK), MF_OK);
    mf_env_free(env);
}

/* Entries of /proc/self/task; 0 where there is none. */
static size_t threads_now(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;

    for (struct dirent *task; tasks && (task = readdir(tasks));)
        count += *task->d_name != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* ---- threads of OpenMP ---- */

#ifdef _OPENMP

static int value;
#pragma omp threadprivate(value)

static void set_values(void)
{
#pragma omp parallel num_threads(THREADS)
    value = 100 + omp_get_thread_num();
}

static void values_stay(void)
{
    int now[THREADS] = { 0 };

#pragma omp parallel num_threads(THREADS)
    now[omp_get_thread_num()] = value;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(now[i], 100 + i);
}

static void threadprivate_values_stay(void **state)
{
    (void)state;
    set_values();
    work_once(&four);
    values_stay();
    work_once(&four);
    values_stay();
}

/* The child's own threads are gone, as OpenMP has it: of its values there is
 * the first. */
static _Noreturn void in_child(void)
{
    alarm(60); /* rather than to wait for threads that are not there */
    work_once(&four);
    work_once(&four);
    _exit(value == 100 ? 42 : 43);
}

static void fork_finds_no_threads_missing(void **state)
{
    pid_t child;
    int end;

    (void)state;
    set_values();
    work_once(&four);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        in_child();
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end));
    assert_int_equal(WEXITSTATUS(end), 42);
    values_stay();
    work_once(&four);
    values_stay();
}

#endif

/* ---- threads of the library ---- */

struct seen {
    size_t before, most;
};

static bool look(void *user, const struct mf_progress *progress)
{
    struct seen *seen = user;
    size_t now = threads_now();

    (void)progress;
    seen->most = now > seen->most ? now : seen->most;
    return true;
}

static size_t threads_at_work(uint64_t size)
{
    struct seen seen = { .before = threads_now() };
    struct mf_options options = four;
    struct mf_env *env;

    options.progress = look;
    options.progress_user = &seen;
    env = mf_env_new(&options);
    assert_non_null(env);
    assert_int_equal(do_work(env, size), MF_OK);
    mf_env_free(env);
    assert_int_equal(threads_now(), seen.before);
    return seen.most - seen.before;
}

static void small_work_starts_no_thread(void **state)
{
    (void)state;
    if (threads_now() == 0)
        skip();
    assert_int_equal(threads_at_work(1 << 20), 0);
#ifdef _OPENMP
    assert_int_equal(threads_at_work(WORK), THREADS + 1);
#endif
}

#ifdef _OPENMP

/* In a region of the program each thread works alone. */
static void work_in_a_region(void **state)
{
    size_t more[THREADS] = { 0 };

    (void)state;
    set_values();
#pragma omp parallel num_threads(THREADS)
    more[omp_get_thread_num()] = threads_at_work(WORK);
    values_stay();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(more[i], 0);
}

#endif

/* ---- threads of the program ---- */

struct hook {
    size_t calls, count, some; /* some: of the indexes, to be run */
    bool at_once, wrong;       /* wrong: one twice, and some invalid */
    void (*work)(void *context, size_t index);
    void *context;
};

struct call {
    struct hook *hook;
    size_t index;
};

static void *run_call(void *context)
{
    struct call *call = context;

    call->hook->work(call->hook->context, call->index);
    return NULL;
}

static void run(void *user, size_t count,
                void (*work)(void *context, size_t index), void *context)
{
    struct hook *hook = user;
    struct call call[THREADS];
    pthread_t thread[THREADS];
    size_t some = hook->some < count ? hook->some : count;
    size_t last = hook->wrong ? some - 1 : some;

    hook->calls++;
    hook->count = count;
    hook->work = work;
    hook->context = context;
    assert_true(count <= THREADS);
    for (size_t i = 0; i < some; i++) {
        call[i] = (struct call){ hook, i == last ? 0 : i };
        if (!hook->at_once)
            run_call(&call[i]);
        else if (pthread_create(&thread[i], NULL, run_call, &call[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < some && hook->at_once; i++)
        pthread_join(thread[i], NULL);
    if (hook->wrong) {
        work(context, count);
        work(context, SIZE_MAX);
    }
}

static void work_by(struct hook *hook, unsigned threads)
{
    struct mf_options options = { .size = sizeof(options),
                                  .threads = threads,
                                  .run = run,
                                  .run_user = hook };

    work_once(&options);
}

static void program_gives_threads(void **state)
{
    struct hook all = { .some = THREADS, .at_once = true };
    struct hook in_turn = { .some = THREADS };
    struct hook fewer = { .some = 1, .at_once = true };
    struct hook refuses = { .some = 0 };
    struct hook wrong = { .some = THREADS, .at_once = true, .wrong = true };
    struct hook alone = { .some = THREADS };

    (void)state;
    work_by(&all, THREADS);
    work_by(&in_turn, THREADS);
    work_by(&fewer, THREADS);
    work_by(&refuses, THREADS);
    work_by(&wrong, THREADS);
    work_by(&alone, 1);
    assert_int_equal(all.calls, 1);
    assert_int_equal(all.count, THREADS);
    assert_int_equal(refuses.calls, 1);
    assert_int_equal(alone.calls, 0);
}

static bool refuse(void *user, const struct mf_progress *progress)
{
    (void)progress;
    *(bool *)user = true;
    return false;
}

static void work_of_the_program_can_be_stopped(void **state)
{
    struct hook hook = { .some = THREADS, .at_once = true };
    bool asked = false;
    struct mf_options options = { .size = sizeof(options),
                                  .threads = THREADS,
                                  .progress = refuse,
                                  .progress_user = &asked,
                                  .run = run,
                                  .run_user = &hook };
    struct mf_env *env = mf_env_new(&options);

    (void)state;
    assert_non_null(env);
    assert_int_equal(do_work(env, WORK), MF_ERR_STOPPED);
    assert_true(asked);
    mf_env_free(env);
}

/* ---- finalizers ---- */

enum { ENV, MODEL, VALUES, MORE_VALUES, WRITER, EDITOR, KINDS };

static struct test_heap heap;

struct opened {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_values *values, *more;
    struct mf_writer *writer;
    struct mf_editor *editor;
};

static void open_all(struct opened *all)
{
    struct mf_writer_options writing = { .size = sizeof(writing),
                                         .format = "gguf" };

    all->env = test_env(&heap);
    assert_non_null(all->env);
    assert_int_equal(mf_model_open(all->env, fixture_path("good-base.gguf"),
                                   NULL, &all->model),
                     MF_OK);
    assert_int_equal(mf_values_open(all->model, 0, &all->values), MF_OK);
    assert_int_equal(mf_values_open(all->model, 0, &all->more), MF_OK);
    assert_int_equal(mf_writer_new(all->env, &writing, &all->writer), MF_OK);
    assert_int_equal(mf_editor_open(all->env, fixture_path("good-base.gguf"),
                                    NULL, &all->editor),
                     MF_OK);
}

static void finalize(struct opened *all, size_t kind)
{
    switch (kind) {
    case ENV:
        mf_env_free(all->env);
        break;
    case MODEL:
        mf_model_close(all->model);
        break;
    case VALUES:
        mf_values_close(all->values);
        break;
    case MORE_VALUES:
        mf_values_close(all->more);
        break;
    case WRITER:
        mf_writer_free(all->writer);
        break;
    default:
        mf_editor_close(all->editor);
    }
}

static uint32_t random_below(uint32_t bound)
{
    static uint64_t state = 1;

    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % bound;
}

static void finalizers_run_in_any_order(void **state)
{
    size_t order[KINDS] = { ENV, MODEL, VALUES, MORE_VALUES, WRITER, EDITOR };
    const size_t rounds = test_is_quick() ? 300 : 10000;

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        struct opened all;

        open_all(&all);
        for (size_t i = KINDS; i > 1; i--) {
            size_t other = random_below((uint32_t)i), swap = order[i - 1];

            order[i - 1] = order[other];
            order[other] = swap;
        }
        for (size_t i = 0; i < KINDS; i++) {
            assert_true(heap.live > 0);
            finalize(&all, order[i]);
        }
        assert_int_equal(heap.live, 0);
    }
}

static void a_model_outlives_its_env(void **state)
{
    struct opened all;
    struct mf_value event;
    struct mf_tensor tensor;

    (void)state;
    open_all(&all);
    mf_env_free(all.env);
    mf_editor_close(all.editor);
    mf_writer_free(all.writer);
    mf_model_close(all.model);
    assert_int_equal(mf_values_next(all.values, &event), MF_ERR_ARGUMENT);
    assert_true(mf_tensor_at(all.model, 0, &tensor));
    mf_values_close(all.values);
    assert_true(heap.live > 0);
    mf_values_close(all.more);
    assert_int_equal(heap.live, 0);
}

/* ---- errors ---- */

static void error_has_errno_and_path(void **state)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;
    const struct mf_error *error = mf_env_error(env);

    (void)state;
    assert_int_equal(mf_model_open(env, "no/such.gguf", NULL, &model),
                     MF_ERR_IO);
    assert_int_equal(error->system, ENOENT);
    assert_string_equal(error->path, "no/such.gguf");
    assert_non_null(strstr(error->message, "No such file or directory"));
    mf_env_free(env);
}

/* ---- the environment ---- */

static void the_environment_is_not_read(void **state)
{
    struct mf_options options = { .size = sizeof(options), .isa = "abacus" };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_env *other = mf_env_new(&options);
    struct mf_model *model;

    (void)state;
    assert_int_equal(setenv("MODELFILE_ISA", "abacus", 1), 0);
    assert_int_equal(
        mf_model_open(env, fixture_path("good-base.gguf"), NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    mf_model_close(model);
    assert_int_equal(
        mf_model_open(other, fixture_path("good-base.gguf"), NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(other)->message, "'abacus'"));
    mf_model_close(model);
    assert_int_equal(unsetenv("MODELFILE_ISA"), 0);
    mf_env_free(env);
    mf_env_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef _OPENMP
        cmocka_unit_test(threadprivate_values_stay),
        cmocka_unit_test(fork_finds_no_threads_missing),
        cmocka_unit_test(work_in_a_region),
#endif
        cmocka_unit_test(small_work_starts_no_thread),
        cmocka_unit_test(program_gives_threads),
        cmocka_unit_test(work_of_the_program_can_be_stopped),
        cmocka_unit_test(finalizers_run_in_any_order),
        cmocka_unit_test(a_model_outlives_its_env),
        cmocka_unit_test(error_has_errno_and_path),
        cmocka_unit_test(the_environment_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
