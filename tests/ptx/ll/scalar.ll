; Types, control flow and calls that CUDA's front end seldom makes; no data layout, so that both pointer sizes work.
@table = addrspace(4) constant [4 x i32] [i32 1, i32 -2, i32 3, i32 2147483647]
@handlers = addrspace(1) global [2 x i32 (i32)*] [i32 (i32)* @add_one, i32 (i32)* @twice]
@tile = internal addrspace(3) global [64 x float] undef, align 16
@text = private addrspace(1) constant [6 x i8] c"ab\22\5C\0A\00"

define i32 @add_one(i32 %x) noinline {
  %r = add i32 %x, 1
  ret i32 %r
}

define i32 @twice(i32 %x) noinline {
  %r = shl i32 %x, 1
  ret i32 %r
}

define { i32, float } @pair(i64 %x, i8 %y) noinline {
  %a = trunc i64 %x to i32
  %b = uitofp i8 %y to float
  %s = insertvalue { i32, float } undef, i32 %a, 0
  %t = insertvalue { i32, float } %s, float %b, 1
  ret { i32, float } %t
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.ctlz.i64(i64, i1)

define void @odd_widths(i33* %wide, i5* %narrow, i1* %bit, i128* %big) {
  %w = load i33, i33* %wide
  %n = load i5, i5* %narrow
  %e = zext i5 %n to i33
  %s = add i33 %w, %e
  store i33 %s, i33* %wide
  %c = icmp sgt i33 %s, 77
  store i1 %c, i1* %bit
  %b = load i128, i128* %big
  %m = mul i128 %b, %b
  store i128 %m, i128* %big
  ret void
}

define void @choose(i32* %out, i32 %which) {
entry:
  switch i32 %which, label %other [
    i32 0, label %zero
    i32 1, label %one
    i32 2, label %two
    i32 3, label %three
    i32 4, label %one
    i32 5, label %two
    i32 6, label %zero
  ]
zero:
  %z = call i32 @add_one(i32 %which)
  br label %done
one:
  %o = call { i32, float } @pair(i64 5, i8 9)
  %o0 = extractvalue { i32, float } %o, 0
  br label %done
two:
  %i = and i32 %which, 1
  %slot = getelementptr [2 x i32 (i32)*], [2 x i32 (i32)*] addrspace(1)* @handlers, i32 0, i32 %i
  %f = load i32 (i32)*, i32 (i32)* addrspace(1)* %slot
  %t = call i32 %f(i32 %which)
  br label %done
three:
  %p = call i32 @llvm.ctpop.i32(i32 %which)
  br label %done
other:
  unreachable
done:
  %r = phi i32 [ %z, %zero ], [ %o0, %one ], [ %t, %two ], [ %p, %three ]
  store i32 %r, i32* %out
  ret void
}

define void @vectors(<4 x float>* %v, <2 x i16>* %h, double* %d) {
  %a = load <4 x float>, <4 x float>* %v, align 16
  %x = extractelement <4 x float> %a, i32 0
  %y = extractelement <4 x float> %a, i32 3
  %f = call float @llvm.fma.f32(float %x, float %y, float 0x3FB99999A0000000)
  %b = insertelement <4 x float> %a, float %f, i32 1
  store <4 x float> %b, <4 x float>* %v, align 16
  %s = load <2 x i16>, <2 x i16>* %h, align 4
  %u = add <2 x i16> %s, <i16 3, i16 -1>
  store <2 x i16> %u, <2 x i16>* %h, align 4
  %e = load double, double* %d
  %g = fdiv double %e, 3.0e+00
  %c = fcmp ult double %g, 0x7FF0000000000000
  %k = select i1 %c, double %g, double -0.0
  store double %k, double* %d
  ret void
}

define void @staged(float addrspace(1)* %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr [64 x float], [64 x float] addrspace(3)* @tile, i32 0, i32 %tid
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %f = sitofp i32 %i to float
  store float %f, float addrspace(3)* %mine
  call void @llvm.nvvm.barrier0()
  %k = and i32 %i, 3
  %q = getelementptr [4 x i32], [4 x i32] addrspace(4)* @table, i32 0, i32 %k
  %t = load i32, i32 addrspace(4)* %q
  %g = sitofp i32 %t to float
  %to = getelementptr float, float addrspace(1)* %out, i32 %i
  store float %g, float addrspace(1)* %to
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

!nvvm.annotations = !{!0, !1, !2, !3, !4, !5}
!0 = !{void (i33*, i5*, i1*, i128*)* @odd_widths, !"kernel", i32 1}
!1 = !{void (i32*, i32)* @choose, !"kernel", i32 1}
!2 = !{void (<4 x float>*, <2 x i16>*, double*)* @vectors, !"kernel", i32 1}
!3 = !{void (float addrspace(1)*, i32)* @staged, !"kernel", i32 1}
!4 = !{void (float addrspace(1)*, i32)* @staged, !"maxntidx", i32 128}
!5 = !{void (float addrspace(1)*, i32)* @staged, !"minctasm", i32 2}
