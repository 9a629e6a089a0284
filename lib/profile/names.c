/* SPDX-License-Identifier: MIT
 *
 * names.c - what each address of a profile is called
 *
 * A frame reads "0xADDRESS: function (file.c:LINE)", as valgrind writes it; the
 * address is the one in the file of the object, for tools such as addr2line.
 */
#include "lib/profile/view.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/profile/object.h"

struct naming {
    struct mf_env *env;
    struct mf_profile_view *view;
    struct mf_arena arena; /* for names that are not texts yet */
    const uintptr_t *call;
    uint32_t *order; /* rows of call, in ascending order */
    size_t count;
    struct mf_addresses addresses; /* in that order */
    struct mf_objects objects;
};

static bool comes_before(const void *table, uint32_t a, uint32_t b)
{
    const uintptr_t *call = table;

    return call[a] < call[b];
}

static bool add_text(struct naming *naming, const char *text)
{
    struct mf_profile_view *view = naming->view;
    void *table = view->frame;
    char *kept = mf_arena_text(&view->arena, strlen(text));

    if (!kept || !mf_table_grow(naming->env, &table, &view->frame_room,
                                view->frame_count, sizeof(*view->frame)))
        return false;
    view->frame = table;
    view->frame[view->frame_count++] = kept;
    memcpy(kept, text, strlen(text));
    return true;
}

static bool add_frame(struct naming *naming, uint64_t at, const char *function,
                      const char *file, uint32_t line, const char *object)
{
    char text[512], place[300];

    if (file && line > 0)
        snprintf(place, sizeof(place), "%s:%" PRIu32, file, line);
    else
        snprintf(place, sizeof(place), "in %s", object);
    snprintf(text, sizeof(text), "0x%" PRIX64 ": %.180s (%s)", at,
             function ? function : "???", place);
    return add_text(naming, text);
}

static bool add_frames(struct naming *naming, size_t row,
                       const struct mf_object *object)
{
    const struct mf_address *address = &naming->addresses.at[row];
    struct mf_named_call *call = &naming->view->call[naming->order[row]];
    const char *file = address->file, *name = object ? object->name : "???";
    const struct mf_inlined *inlined = address->inlined;
    uint32_t line = address->line;

    call->first = (uint32_t)naming->view->frame_count;
    call->is_main = object && object->is_program && address->function &&
                    strcmp(address->function, "main") == 0;
    for (call->count = 1; inlined; inlined = inlined->outer, call->count++) {
        if (!add_frame(naming, address->at, inlined->function, file, line,
                       name))
            return false;
        file = inlined->file;
        line = inlined->line;
    }
    return add_frame(naming, address->at, address->function, file, line, name);
}

static bool add_all_frames(struct naming *naming)
{
    const struct mf_objects *objects = &naming->objects;

    for (size_t i = 0; i < naming->count; i++) {
        const struct mf_object *object = NULL;

        for (size_t n = 0; n < objects->count && !object; n++)
            if (i - objects->at[n].first < objects->at[n].count)
                object = &objects->at[n];
        if (!add_frames(naming, i, object))
            return false;
    }
    return true;
}

static bool name_objects(struct naming *naming)
{
    struct mf_objects *objects = &naming->objects;

    if (!mf_objects_find(naming->env, &naming->arena, &naming->addresses,
                         objects))
        return false;
    for (size_t i = 0; i < objects->count; i++) {
        struct mf_addresses part = {
            .at = naming->addresses.at + objects->at[i].first,
            .count = objects->at[i].count,
        };

        if (!mf_object_name(naming->env, &naming->arena, &objects->at[i],
                            &part))
            return false;
    }
    return true;
}

static bool name_all(struct naming *naming)
{
    for (size_t i = 0; i < naming->count; i++)
        naming->order[i] = (uint32_t)i;
    mf_sort(naming->order, naming->count, comes_before, naming->call);
    for (size_t i = 0; i < naming->count; i++)
        naming->addresses.at[i] =
            (struct mf_address){ .at = naming->call[naming->order[i]] };
    return name_objects(naming) && add_all_frames(naming);
}

bool mf_name_calls(struct mf_profile *profile, struct mf_profile_view *view)
{
    struct mf_env *env = profile->env;
    size_t count = profile->call_count;
    struct naming naming = {
        .env = env, .view = view, .call = profile->call, .count = count
    };
    bool done;

    mf_arena_init(&naming.arena, env);
    naming.addresses.count = count;
    naming.addresses.at =
        mf_arena_take(&naming.arena, count * sizeof(*naming.addresses.at));
    naming.order = mf_arena_take(&naming.arena, count * sizeof(*naming.order));
    done = naming.order && naming.addresses.at && name_all(&naming);
    mf_release(env, naming.objects.at,
               naming.objects.room * sizeof(*naming.objects.at));
    mf_arena_release(&naming.arena);
    return done;
}
