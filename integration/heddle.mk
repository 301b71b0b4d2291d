# heddle.mk: nvcc with heddle's passes, for GNU make. See heddle-build(7).
#
#   HEDDLE_PASSES = clean,bow
#   include heddle.mk
#   %.o: %.cu $(HEDDLE_STAMP)
#           $(HEDDLE_NVCC) -O3 -arch=sm_80 -MD -MP -c -o $@ $<
#   -include $(OBJECTS:.o=.d)
#
# HEDDLE         the program
# HEDDLE_PASSES  as of its option -p; empty: none
# HEDDLE_FLAGS   its other options: --require=registers<=96
# CUDA_NVCC      nvcc; empty: the one that heddle finds
# HEDDLE_NVCC    stands for nvcc in recipes
# HEDDLE_STAMP   a file that changes when one of these does, or the program: what is compiled depends on it

HEDDLE ?= heddle
HEDDLE_PASSES ?=
HEDDLE_FLAGS ?=
CUDA_NVCC ?=
HEDDLE_STAMP ?= .heddle-stamp

heddle_quote = '$(subst ','\'',$(1))'
HEDDLE_NVCC = $(call heddle_quote,$(HEDDLE)) nvcc \
    $(if $(HEDDLE_PASSES),-p $(call heddle_quote,$(HEDDLE_PASSES))) $(HEDDLE_FLAGS) -- \
    $(if $(CUDA_NVCC),$(call heddle_quote,$(CUDA_NVCC)))

# When the makefile is read, so that what depends on it sees the new time.
heddle_program := $(or $(wildcard $(HEDDLE)),$(shell command -v $(HEDDLE)))
$(shell mkdir -p $(dir $(HEDDLE_STAMP)); \
    text=$(call heddle_quote,$(HEDDLE_NVCC)); \
    [ -f $(HEDDLE_STAMP) ] && [ "$$(cat $(HEDDLE_STAMP))" = "$$text" ] && \
    ! [ $(call heddle_quote,$(heddle_program)) -nt $(HEDDLE_STAMP) ] || printf '%s\n' "$$text" >$(HEDDLE_STAMP))
heddle_goal := $(.DEFAULT_GOAL)
$(HEDDLE_STAMP): ;
.DEFAULT_GOAL := $(heddle_goal)
