# Steps the first warp of a kernel through its machine code: of each instruction its address, the warps' lanes, and
# the registers of lane 5.
set pagination off
set width 0
set cuda break_on_launch application
run
cuda thread (5,0,0)
set $i = 0
while $i < 700
  printf "PC %lx %lx\n", (unsigned long)$pc, (unsigned long)$pc
  info cuda warps
  info registers R0 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14 R15 R16 R17 R18 R19 R20 R21 R22 R23
  stepi
  set $i = $i + 1
end
