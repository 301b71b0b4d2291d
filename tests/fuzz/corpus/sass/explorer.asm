void ns::add<float, (int)4>(const float *, int):
.text.void ns::add<float, (int)4>(const float *, int):
 LDC.64 R4, c[0x0][0x380] 
 S2R R0, SR_TID.X 
 ISETP.GE.AND P0, PT, R0, c[0x0][0x168], PT 
 @P0 EXIT 
.L_x_0:
 LDG.E R2, [R4.64] 
 IADD3 R0, R2, R0, RZ 
 IADD3 R10, R4, R0, R4 
 STG.E [R4.64], R10 
 ISETP.NE.AND P1, PT, R0, RZ, PT 
 @P1 BRA `(.L_x_0) 
 EXIT 
.text.l:
 LDC.64 R4, c[0x0][0x380] 
 S2R R0, SR_TID.X 
 ISETP.GE.AND P0, PT, R0, c[0x0][0x168], PT 
 @P0 EXIT 
.L_x_0:
 LDG.E R2, [R4.64] 
 IADD3 R0, R2, R0, RZ 
 IADD3 R10, R4, R0, R4 
 STG.E [R4.64], R10 
 ISETP.NE.AND P1, PT, R0, RZ, PT 
 @P1 BRA `(.L_x_0) 
 EXIT 
