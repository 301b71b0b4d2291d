/* The tables of replay models, their options and titles. */
#include "base/search.h"
#include "hwmodel/rf/technique.h"

#define HD_RF_FAMILY(name, model)
#define HD_RF_STANDARD(title, model)
#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary) extern const hd_rf_ops ops;
#include "hwmodel/rf/models/models.def"
#undef HD_RF_MODEL

enum {
    HEADLINE_NONE,
#define HD_HEADLINE(id, kind, part, whole, title, meaning, needs, otherwise) HEADLINE_##id,
#include "hwmodel/rf/models/headlines.def"
#undef HD_HEADLINE
};
static const hd_rf_headline_info headlines[] = {
    {0},
#define HD_HEADLINE(id, kind, part, whole, title, meaning, needs, otherwise) \
    {title, meaning, otherwise, HD_HEADLINE_##kind, HD_COUNTER_##part, HD_COUNTER_##whole, HD_COUNTER_##needs},
#include "hwmodel/rf/models/headlines.def"
#undef HD_HEADLINE
};

#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary) +1
enum {
    MODELS = 0
#include "hwmodel/rf/models/models.def"
};
#undef HD_RF_MODEL
static hd_rf_model_info models[MODELS + HD_PLUGIN_ROWS] = {
#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary) \
    {name, technique, &(ops), pass, options, summary, HEADLINE_##headline ? &headlines[HEADLINE_##headline] : NULL},
#include "hwmodel/rf/models/models.def"
#undef HD_RF_MODEL
#undef HD_RF_FAMILY
#undef HD_RF_STANDARD
};
const hd_rf_model_info *const hd_rf_models = models;
uint32_t hd_rf_model_count = MODELS;

#define HD_RF_OPTION(ops, name, least, most, pass, summary) +1
enum {
    OPTIONS = 0
#include "hwmodel/rf/options.def"
};
#undef HD_RF_OPTION
static hd_rf_option_info options[OPTIONS + HD_PLUGIN_ROWS] = {
#define HD_RF_OPTION(ops, name, least, most, pass, summary) {&(ops), name, summary, pass, least, most},
#include "hwmodel/rf/options.def"
#undef HD_RF_OPTION
};
const hd_rf_option_info *const hd_rf_options = options;
uint32_t hd_rf_option_count = OPTIONS;

bool hd_rf_option_add(const hd_rf_option_info *row) { return HD_ADD_ROW(options, hd_rf_option_count, row); }

#define HD_RF_MODEL(name, technique, ops, pass, options, headline, summary)
const hd_rf_family_info hd_rf_families[] = {
#define HD_RF_FAMILY(name, model) {name, model},
#define HD_RF_STANDARD(title, model)
#include "hwmodel/rf/models/models.def"
#undef HD_RF_FAMILY
#undef HD_RF_STANDARD
};
const uint32_t hd_rf_family_count = sizeof hd_rf_families / sizeof *hd_rf_families;

#define HD_RF_FAMILY(name, model)
#define HD_RF_STANDARD(title, model) +1
enum {
    STANDARDS = 0
#include "hwmodel/rf/models/models.def"
};
#undef HD_RF_STANDARD
static hd_rf_family_info standards[STANDARDS + HD_PLUGIN_ROWS] = {
#define HD_RF_STANDARD(title, model) {title, model},
#include "hwmodel/rf/models/models.def"
#undef HD_RF_FAMILY
#undef HD_RF_STANDARD
};
#undef HD_RF_MODEL
static uint32_t standard_count = STANDARDS;

const hd_rf_combination_info hd_rf_combinations[] = {
#define HD_RF_COMBINATION(one, other, model, reason) {one, other, model, reason},
#include "hwmodel/rf/models/combinations.def"
#undef HD_RF_COMBINATION
};
const uint32_t hd_rf_combination_count = sizeof hd_rf_combinations / sizeof *hd_rf_combinations;

bool hd_rf_model_add(const hd_rf_model_info *row, const char *standard_title)
{
    if (standard_title && !HD_ADD_ROW(standards, standard_count, &((hd_rf_family_info){standard_title, row->name})))
        return false;
    return HD_ADD_ROW(models, hd_rf_model_count, row);
}

const hd_rf_model_info *hd_rf_model_find(const char *name, size_t length)
{
    uint32_t found = HD_FIND_ROW(models, hd_rf_model_count, name, name, length);
    return found < hd_rf_model_count ? &hd_rf_models[found] : NULL;
}

static const char *title_of(const char *model)
{
    for (uint32_t i = 0; i < standard_count; i++)
        if (!strcmp(standards[i].model, model))
            return standards[i].name;
    return NULL;
}

const char *hd_rf_standard_title(const hd_rf_model_info *model)
{
    const char *title = title_of(model->name);
    const hd_rf_model_info *first = NULL;
    for (uint32_t i = 0; i < hd_rf_model_count && !title; i++) {
        if (strcmp(hd_rf_models[i].technique, model->technique))
            continue;
        if (title_of(hd_rf_models[i].name))
            return NULL;
        first = first ? first : &hd_rf_models[i];
    }
    return title ? title : first && !strcmp(first->name, model->name) ? first->name : NULL;
}

hd_rf_model *hd_rf_model_new(const hd_rf_model_info *info, const hd_rf_module *code, const char **refusal)
{
    hd_rf_model *model = info->ops->create(code, info->options, refusal);
    if (model)
        model->info = info;
    return model;
}
