/* The profile of a replay as JSON. Private to emitters/replay/. */
#ifndef HD_EMITTERS_REPLAY_JSON_H
#define HD_EMITTERS_REPLAY_JSON_H

#include "emitters/json.h"
#include "heddle/replay_result.h"

/* The member "profile"; profile NULL: null. */
void hd_replay_write_profile_json(hd_json *json, const hd_replay_report *report, const hd_replay_profile *profile);

#endif
