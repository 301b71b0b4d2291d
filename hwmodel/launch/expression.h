/* Expressions in launch files: numbers that depend on the variables of `for` loops (heddle-launch(5)).
 *
 * An expression has the operators of C on integers of 64 bits and on doubles, with C's precedence, without assignment:
 * || && | ^ & == != < <= > >= << >> + - * / % and unary - ! ~, parentheses, min(a, b) and max(a, b). An operation is on
 * doubles if an operand is a double, which a literal with a point or an exponent is. Overflow, division by zero and
 * shifts out of range are errors. O(length) for each evaluation. */
#ifndef HD_HWMODEL_LAUNCH_EXPRESSION_H
#define HD_HWMODEL_LAUNCH_EXPRESSION_H

#include "base/yaml.h"
#include "ir/ir.h"

/* A variable of an enclosing loop; inner ones hide outer ones. */
typedef struct hd_variable {
    const char *name;
    int64_t value;
    const struct hd_variable *outer;
} hd_variable;

/* Where in its loops a step is. */
typedef struct hd_iteration {
    uint64_t k; /* repetitions of the innermost loop so far; 0 outside */
    const hd_variable *variables;
} hd_iteration;

typedef struct hd_expression_value {
    bool is_real;
    int64_t whole;
    double real; /* where is_real */
} hd_expression_value;

/* Whether a scalar is an expression rather than a number. */
bool hd_is_expression(const hd_yaml_node *node);
/* Errors are bad-value at the node. */
bool hd_expression_evaluate(const hd_yaml_node *node, const hd_iteration *at, hd_diagnostics *diagnostics,
                            hd_expression_value *value);
/* A whole number from `least` to `most`: a literal or an expression. */
bool hd_expression_whole(const hd_yaml_node *node, const hd_iteration *at, int64_t least, int64_t most,
                         hd_diagnostics *diagnostics, int64_t *value);
/* In a type of launch files; reports what does not fit. */
bool hd_expression_store(const hd_yaml_node *node, const hd_iteration *at, hd_type type, hd_diagnostics *diagnostics,
                         unsigned char *bytes);
/* Whether text can be a variable's name. */
bool hd_is_variable_name(const char *text);

#endif
