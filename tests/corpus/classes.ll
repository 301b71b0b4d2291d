; Every class of intrinsics of LLVM's NVPTX back end, and what its front ends make of ordinary code: one function a class.
; `run` cuts at the lines ";; class NAME sm_XX ptxYY" (what the class needs), and adds declarations of the intrinsics that
; a class calls, from their calls. Functions named kernel_* become kernels.
;; class arithmetic sm_50 ptx60
define void @kernel_arithmetic(ptr addrspace(1) %p, i32 %a, i64 %b, i16 %c, float %f, double %d) {
  %a1 = mul i32 %a, 7
  %a2 = sdiv i32 %a1, %a
  %a3 = urem i32 %a2, 11
  %a4 = ashr i32 %a3, 3
  %a5 = xor i32 %a4, -1
  %b1 = mul i64 %b, %b
  %b2 = udiv i64 %b1, 3
  %b3 = shl i64 %b2, 5
  %c1 = add i16 %c, 3
  %c2 = sext i16 %c1 to i64
  %f1 = fmul float %f, 3.0
  %f2 = fdiv float %f1, %f
  %f3 = fneg float %f2
  %d1 = fadd double %d, 0x3FF3333333333333
  %d2 = fdiv double %d1, %d
  %d3 = frem double %d2, 2.0
  %g = fptosi float %f3 to i32
  %h = fptoui double %d3 to i64
  %i = sitofp i32 %a5 to double
  %j = fptrunc double %i to float
  %k = fcmp uno float %j, %f3
  %l = icmp ult i64 %h, %b3
  %m = and i1 %k, %l
  %n = select i1 %m, i64 %h, i64 %c2
  store i64 %n, ptr addrspace(1) %p
  %q = getelementptr i8, ptr addrspace(1) %p, i64 8
  store i32 %g, ptr addrspace(1) %q
  %r = getelementptr i8, ptr addrspace(1) %p, i64 16
  store float %j, ptr addrspace(1) %r
  ret void
}
;; class wide sm_50 ptx60
define void @kernel_wide(ptr addrspace(1) %p, i128 %a, i64 %b) {
  %z = zext i64 %b to i128
  %s = add i128 %a, %z
  %m = mul i128 %s, %z
  %t = lshr i128 %m, 17
  store i128 %t, ptr addrspace(1) %p
  %q = getelementptr i128, ptr addrspace(1) %p, i64 1
  %c = icmp slt i128 %t, %a
  %v = select i1 %c, i128 %m, i128 %s
  store i128 %v, ptr addrspace(1) %q
  ret void
}
;; class bits sm_50 ptx60
define void @kernel_bits(ptr addrspace(1) %p, i32 %a, i32 %b, i64 %c) {
  %p1 = call i32 @llvm.ctpop.i32(i32 %a)
  %p2 = call i64 @llvm.ctpop.i64(i64 %c)
  %l1 = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %l2 = call i64 @llvm.ctlz.i64(i64 %c, i1 true)
  %t1 = call i32 @llvm.cttz.i32(i32 %b, i1 false)
  %r1 = call i32 @llvm.bitreverse.i32(i32 %a)
  %r2 = call i64 @llvm.bitreverse.i64(i64 %c)
  %s1 = call i32 @llvm.fshl.i32(i32 %a, i32 %b, i32 %t1)
  %s2 = call i64 @llvm.fshr.i64(i64 %c, i64 %r2, i64 %l2)
  %w1 = call i32 @llvm.bswap.i32(i32 %r1)
  %u1 = add i32 %p1, %l1
  %u2 = add i32 %s1, %w1
  %u3 = xor i32 %u1, %u2
  %v1 = add i64 %p2, %s2
  %v2 = zext i32 %u3 to i64
  %v3 = xor i64 %v1, %v2
  store i64 %v3, ptr addrspace(1) %p
  ret void
}
;; class half sm_53 ptx60
define void @kernel_half(ptr addrspace(1) %p, half %a, half %b, <2 x half> %c, <2 x half> %d) {
  %s = fadd half %a, %b
  %m = fmul half %s, %b
  %n = call half @llvm.fma.f16(half %m, half %a, half %b)
  %v = fmul <2 x half> %c, %d
  %w = fsub <2 x half> %v, %c
  %x = extractelement <2 x half> %w, i32 1
  %y = fadd half %x, %n
  %q = fcmp olt half %y, %a
  %z = select i1 %q, half %y, half %m
  store half %z, ptr addrspace(1) %p
  %o = getelementptr i8, ptr addrspace(1) %p, i64 4
  store <2 x half> %w, ptr addrspace(1) %o
  %f = fpext half %z to float
  %r = getelementptr i8, ptr addrspace(1) %p, i64 8
  store float %f, ptr addrspace(1) %r
  ret void
}
;; class bfloat sm_90 ptx78
define void @kernel_bfloat(ptr addrspace(1) %p, bfloat %a, bfloat %b, <2 x bfloat> %c) {
  %s = fadd bfloat %a, %b
  %v = fmul <2 x bfloat> %c, %c
  %x = extractelement <2 x bfloat> %v, i32 0
  %y = fmul bfloat %x, %s
  %f = fpext bfloat %y to float
  %g = fptrunc float %f to bfloat
  store bfloat %g, ptr addrspace(1) %p
  %o = getelementptr i8, ptr addrspace(1) %p, i64 4
  store <2 x bfloat> %v, ptr addrspace(1) %o
  ret void
}
;; class memory sm_50 ptx60
@mem_global = internal addrspace(1) global [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 16
@mem_const = addrspace(4) constant [3 x float] [float 1.0, float 0x3FF8000000000000, float -2.0], align 4
@mem_shared = internal addrspace(3) global [64 x i32] undef, align 4
@mem_bytes = addrspace(1) global { i8, i16, i64, double } { i8 1, i16 -2, i64 72623859790382856, double 0.25 }
@mem_pointer = addrspace(1) global ptr addrspace(1) @mem_global
@mem_table = addrspace(1) global [2 x ptr] [ptr @mem_first, ptr @mem_second]
define i32 @mem_first(i32 %a) { ret i32 %a }
define i32 @mem_second(i32 %a) { %r = add i32 %a, 1 ret i32 %r }
define void @kernel_memory(ptr %g, ptr addrspace(1) %p, ptr addrspace(3) %s, ptr addrspace(4) %c, ptr byval({ i32, [5 x i64] }) %big) {
  %l = alloca [16 x i32], align 4
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %e = getelementptr [16 x i32], ptr %l, i32 0, i32 %t
  store volatile i32 %t, ptr %e
  %lv = load volatile i32, ptr %e
  %b = getelementptr { i32, [5 x i64] }, ptr %big, i32 0, i32 1, i32 3
  %bv = load i64, ptr %b
  %sh = getelementptr [64 x i32], ptr addrspace(3) @mem_shared, i32 0, i32 %t
  store i32 %lv, ptr addrspace(3) %sh
  %sv = load i32, ptr addrspace(3) %sh
  %cv = load float, ptr addrspace(4) @mem_const
  %gv = load <4 x i32>, ptr addrspace(1) @mem_global
  %x = extractelement <4 x i32> %gv, i32 2
  %h = load i16, ptr %g
  %h2 = sext i16 %h to i32
  %y = load i8, ptr addrspace(3) %s
  %y2 = zext i8 %y to i32
  %z = load <2 x double>, ptr addrspace(1) %p
  %z1 = extractelement <2 x double> %z, i32 1
  %f = load ptr, ptr addrspace(1) @mem_table
  %call = call i32 %f(i32 %x)
  %s1 = add i32 %sv, %h2
  %s2 = add i32 %s1, %y2
  %s3 = add i32 %s2, %call
  store i32 %s3, ptr %g
  store <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>, ptr addrspace(1) %p
  %o = getelementptr i8, ptr addrspace(1) %p, i64 32
  store double %z1, ptr addrspace(1) %o
  %o2 = getelementptr i8, ptr addrspace(1) %p, i64 40
  store i64 %bv, ptr addrspace(1) %o2
  %o3 = getelementptr i8, ptr addrspace(1) %p, i64 48
  store float %cv, ptr addrspace(1) %o3
  %cg = addrspacecast ptr addrspace(3) %sh to ptr
  call void @llvm.memcpy.p0.p1.i64(ptr %cg, ptr addrspace(1) %p, i64 40, i1 false)
  call void @llvm.memset.p1.i64(ptr addrspace(1) %o3, i8 7, i64 33, i1 false)
  ret void
}
;; class flow sm_50 ptx60
define i32 @flow_factorial(i32 %n) {
  %c = icmp ult i32 %n, 2
  br i1 %c, label %end, label %more
more:
  %m = sub i32 %n, 1
  %r = call i32 @flow_factorial(i32 %m)
  %p = mul i32 %r, %n
  ret i32 %p
end:
  ret i32 1
}
define void @kernel_flow(ptr addrspace(1) %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %s = phi i32 [ 1, %entry ], [ %s3, %latch ]
  switch i32 %i, label %other [ i32 0, label %zero i32 1, label %one i32 2, label %two i32 3, label %zero i32 4, label %one i32 5, label %two i32 6, label %three ]
zero:
  %a = add i32 %s, 3
  br label %latch
one:
  %b = mul i32 %s, 5
  br label %latch
two:
  %c = call i32 @flow_factorial(i32 %i)
  br label %latch
three:
  %d = xor i32 %s, 99
  br label %latch
other:
  %e = icmp sgt i32 %s, 1000
  br i1 %e, label %done, label %latch
latch:
  %s3 = phi i32 [ %a, %zero ], [ %b, %one ], [ %c, %two ], [ %d, %three ], [ %s, %other ]
  %i1 = add i32 %i, 1
  %q = icmp slt i32 %i1, %n
  br i1 %q, label %loop, label %done
done:
  %v = phi i32 [ %s, %other ], [ %s3, %latch ]
  store i32 %v, ptr addrspace(1) %p
  %t = icmp eq i32 %v, 77
  br i1 %t, label %dead, label %out
dead:
  call void @llvm.trap()
  unreachable
out:
  ret void
}
;; class sregs sm_50 ptx60
define void @kernel_sregs(ptr addrspace(1) %p) {
  %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %e = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()
  %f = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %h = call i32 @llvm.nvvm.read.ptx.sreg.smid()
  %i = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %j = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  %k = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %l = call i32 @llvm.nvvm.read.ptx.sreg.gridid()
  %m = call i32 @llvm.nvvm.read.ptx.sreg.pm2()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()
  %s1 = add i32 %a, %b
  %s2 = add i32 %c, %d
  %s3 = add i32 %e, %f
  %s4 = add i32 %g, %h
  %s5 = add i32 %i, %j
  %s6 = add i32 %l, %m
  %s7 = add i32 %s1, %s2
  %s8 = add i32 %s3, %s4
  %s9 = add i32 %s5, %s6
  %t1 = add i32 %s7, %s8
  %t2 = add i32 %s9, %n
  %t3 = add i32 %t1, %t2
  store i32 %t3, ptr addrspace(1) %p
  %q = getelementptr i64, ptr addrspace(1) %p, i64 1
  store i64 %k, ptr addrspace(1) %q
  ret void
}
;; class barriers sm_50 ptx60
define void @kernel_barriers(ptr addrspace(1) %p, i32 %n) {
  call void @llvm.nvvm.barrier0()
  %a = call i32 @llvm.nvvm.barrier0.popc(i32 %n)
  %b = call i32 @llvm.nvvm.barrier0.and(i32 %n)
  %c = call i32 @llvm.nvvm.barrier0.or(i32 %n)
  call void @llvm.nvvm.bar.sync(i32 3)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  call void @llvm.nvvm.barrier.sync(i32 2)
  call void @llvm.nvvm.barrier.sync.cnt(i32 1, i32 64)
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.membar.gl()
  call void @llvm.nvvm.membar.sys()
  %s = add i32 %a, %b
  %t = add i32 %s, %c
  store i32 %t, ptr addrspace(1) %p
  ret void
}
;; class lanes sm_70 ptx60
define void @kernel_lanes(ptr addrspace(1) %p, i32 %n, float %f, i64 %w) {
  %a = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %n, i32 1, i32 31)
  %b = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %f, i32 2, i32 31)
  %c = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 -1, i32 %a, i32 1, i32 0)
  %c0 = extractvalue { i32, i1 } %c, 0
  %c1 = extractvalue { i32, i1 } %c, 1
  %d = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 15, i32 %n, i32 %c0, i32 31)
  %v1 = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %c1)
  %v2 = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %v1)
  %v3 = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %v2)
  %v4 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %v3)
  %m1 = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %n)
  %m2 = call i32 @llvm.nvvm.match.any.sync.i64(i32 -1, i64 %w)
  %m3 = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 -1, i32 %d)
  %m4 = extractvalue { i32, i1 } %m3, 0
  %s1 = add i32 %v4, %m1
  %s2 = add i32 %m2, %m4
  %s3 = add i32 %s1, %s2
  %s4 = uitofp i32 %s3 to float
  %s5 = fadd float %s4, %b
  store float %s5, ptr addrspace(1) %p
  ret void
}
;; class redux sm_80 ptx70
define void @kernel_redux(ptr addrspace(1) %p, i32 %n) {
  %a = call i32 @llvm.nvvm.redux.sync.add(i32 %n, i32 -1)
  %b = call i32 @llvm.nvvm.redux.sync.umin(i32 %n, i32 -1)
  %c = call i32 @llvm.nvvm.redux.sync.max(i32 %n, i32 -1)
  %d = call i32 @llvm.nvvm.redux.sync.xor(i32 %n, i32 -1)
  %s1 = add i32 %a, %b
  %s2 = add i32 %c, %d
  %s3 = add i32 %s1, %s2
  store i32 %s3, ptr addrspace(1) %p
  ret void
}
;; class math sm_50 ptx60
define void @kernel_math(ptr addrspace(1) %p, float %f, double %d) {
  %a = call float @llvm.nvvm.sqrt.rn.f(float %f)
  %b = call float @llvm.nvvm.sqrt.approx.ftz.f(float %a)
  %c = call float @llvm.nvvm.rsqrt.approx.f(float %b)
  %e = call float @llvm.nvvm.sin.approx.f(float %c)
  %g = call float @llvm.nvvm.cos.approx.ftz.f(float %e)
  %h = call float @llvm.nvvm.lg2.approx.f(float %g)
  %i = call float @llvm.nvvm.ex2.approx.f(float %h)
  %j = call float @llvm.nvvm.rcp.rz.f(float %i)
  %k = call float @llvm.nvvm.div.approx.f(float %j, float %f)
  %l = call float @llvm.nvvm.fma.rm.f(float %k, float %j, float %f)
  %m = call float @llvm.nvvm.add.rp.ftz.f(float %l, float %k)
  %n = call float @llvm.nvvm.mul.rz.f(float %m, float %l)
  %o = call float @llvm.nvvm.saturate.f(float %n)
  %q = call float @llvm.floor.f32(float %o)
  %r = call float @llvm.nearbyint.f32(float %q)
  %s = call float @llvm.minnum.f32(float %r, float %n)
  %t = call float @llvm.maxnum.f32(float %s, float 2.0)
  %u = call float @llvm.fabs.f32(float %t)
  %v = call float @llvm.copysign.f32(float %u, float %f)
  %d1 = call double @llvm.nvvm.sqrt.rz.d(double %d)
  %d2 = call double @llvm.nvvm.fma.rp.d(double %d1, double %d, double %d1)
  %d3 = call double @llvm.nvvm.rcp.approx.ftz.d(double %d2)
  %d4 = call double @llvm.nvvm.add.rm.d(double %d3, double %d)
  %d5 = call double @llvm.nvvm.div.rn.d(double %d4, double %d2)
  %d6 = call double @llvm.trunc.f64(double %d5)
  %d7 = call i32 @llvm.nvvm.d2i.hi(double %d6)
  %d8 = call i32 @llvm.nvvm.d2i.lo(double %d5)
  %d9 = call double @llvm.nvvm.lohi.i2d(i32 %d7, i32 %d8)
  %x1 = call i32 @llvm.nvvm.f2i.rm(float %v)
  %x2 = call i64 @llvm.nvvm.d2ull.rz(double %d9)
  %x3 = call float @llvm.nvvm.ui2f.rp(i32 %x1)
  %x4 = call double @llvm.nvvm.ll2d.rm(i64 %x2)
  %x5 = call float @llvm.nvvm.d2f.rz(double %x4)
  %y1 = call i32 @llvm.nvvm.mulhi.i(i32 %x1, i32 77)
  %y2 = call i64 @llvm.nvvm.mulhi.ull(i64 %x2, i64 99)
  %y3 = call i32 @llvm.nvvm.mul24.ui(i32 %y1, i32 5)
  %y4 = call i32 @llvm.nvvm.sad.i(i32 %y3, i32 %y1, i32 %x1)
  %y5 = call i32 @llvm.nvvm.prmt(i32 %y4, i32 %y1, i32 291)
  %z = fadd float %x3, %x5
  store float %z, ptr addrspace(1) %p
  %p1 = getelementptr i64, ptr addrspace(1) %p, i64 1
  store i64 %y2, ptr addrspace(1) %p1
  %p2 = getelementptr i64, ptr addrspace(1) %p, i64 2
  store i32 %y5, ptr addrspace(1) %p2
  ret void
}
;; class math80 sm_80 ptx70
define void @kernel_math80(ptr addrspace(1) %p, float %f, half %h, <2 x half> %v) {
  %a = call float @llvm.nvvm.fmin.nan.f(float %f, float 1.0)
  %b = call half @llvm.nvvm.fma.rn.relu.f16(half %h, half %h, half %h)
  %c = call <2 x half> @llvm.nvvm.fma.rn.ftz.f16x2(<2 x half> %v, <2 x half> %v, <2 x half> %v)
  %d = call half @llvm.nvvm.fmax.ftz.nan.f16(half %b, half %h)
  %e = call <2 x half> @llvm.nvvm.ff2f16x2.rn.relu(float %a, float %f)
  %g = fadd <2 x half> %c, %e
  store <2 x half> %g, ptr addrspace(1) %p
  %q = getelementptr i8, ptr addrspace(1) %p, i64 4
  store half %d, ptr addrspace(1) %q
  ret void
}
;; class atomics sm_60 ptx60
define void @kernel_atomics(ptr %g, ptr addrspace(1) %p, ptr addrspace(3) %s, i32 %n, i64 %m, float %f, double %d) {
  %a = atomicrmw add ptr addrspace(1) %p, i32 %n monotonic
  %b = atomicrmw xchg ptr addrspace(3) %s, i32 %a monotonic
  %c = atomicrmw umax ptr %g, i32 %b monotonic
  %e = atomicrmw xor ptr addrspace(1) %p, i64 %m monotonic
  %h = atomicrmw fadd ptr addrspace(1) %p, float %f monotonic
  %i = atomicrmw fadd ptr addrspace(1) %p, double %d monotonic
  %j = cmpxchg ptr addrspace(1) %p, i32 %c, i32 %n monotonic monotonic
  %k = extractvalue { i32, i1 } %j, 0
  %l = cmpxchg ptr addrspace(3) %s, i64 %e, i64 %m monotonic monotonic
  %o = call i32 @llvm.nvvm.atomic.load.inc.32.p1(ptr addrspace(1) %p, i32 %k)
  %q = call i32 @llvm.nvvm.atomic.load.dec.32.p3(ptr addrspace(3) %s, i32 %o)
  %r = call i32 @llvm.nvvm.atomic.add.gen.i.sys.i32.p0(ptr %g, i32 %q)
  store i32 %r, ptr %g
  ret void
}
;; class spaces sm_50 ptx60
define void @kernel_spaces(ptr %g, ptr addrspace(1) %p) {
  %a = call i1 @llvm.nvvm.isspacep.global(ptr %g)
  %b = call i1 @llvm.nvvm.isspacep.shared(ptr %g)
  %c = call i1 @llvm.nvvm.isspacep.local(ptr %g)
  %d = call i1 @llvm.nvvm.isspacep.const(ptr %g)
  %e = or i1 %a, %b
  %f = or i1 %c, %d
  %h = xor i1 %e, %f
  %i = zext i1 %h to i32
  store i32 %i, ptr addrspace(1) %p
  %j = addrspacecast ptr %g to ptr addrspace(3)
  %k = load i32, ptr addrspace(3) %j
  %l = addrspacecast ptr %g to ptr addrspace(5)
  store i32 %k, ptr addrspace(5) %l
  %m = call i32 @llvm.nvvm.ldu.global.i.i32.p1(ptr addrspace(1) %p, i32 4)
  %n = call float @llvm.nvvm.ldg.global.f.f32.p1(ptr addrspace(1) %p, i32 4)
  %o = fptosi float %n to i32
  %q = add i32 %m, %o
  store i32 %q, ptr addrspace(1) %p
  ret void
}
;; class textures sm_50 ptx60
define void @kernel_textures(i64 %t, i64 %s, ptr addrspace(1) %p, float %x, float %y, i32 %i) {
  %a = call { float, float, float, float } @llvm.nvvm.tex.unified.1d.v4f32.s32(i64 %t, i32 %i)
  %b = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64 %t, float %x, float %y)
  %c = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.2d.level.v4s32.f32(i64 %t, float %x, float %y, float 0.0)
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.array.v4u32.s32(i64 %t, i32 %i, i32 %i)
  %e = call { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64 %t, float %x, float %y)
  %f = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.grad.v4f32.f32(i64 %t, float %x, float %y, float %x, float %y, float %x, float %y)
  %g = call i32 @llvm.nvvm.suld.1d.i32.trap(i64 %s, i32 %i)
  %h = call { i16, i16 } @llvm.nvvm.suld.2d.v2i16.clamp(i64 %s, i32 %i, i32 %i)
  call void @llvm.nvvm.sust.b.1d.i32.trap(i64 %s, i32 %i, i32 %g)
  call void @llvm.nvvm.sust.b.2d.v4i8.zero(i64 %s, i32 %i, i32 %i, i16 1, i16 2, i16 3, i16 4)
  call void @llvm.nvvm.sust.p.2d.i32.trap(i64 %s, i32 %i, i32 %i, i32 %g)
  %q1 = call i32 @llvm.nvvm.txq.width(i64 %t)
  %q2 = call i32 @llvm.nvvm.suq.height(i64 %s)
  %q3 = call i1 @llvm.nvvm.istypep.texture(i64 %t)
  %a0 = extractvalue { float, float, float, float } %a, 0
  %b1 = extractvalue { float, float, float, float } %b, 1
  %c2 = extractvalue { i32, i32, i32, i32 } %c, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %e0 = extractvalue { float, float, float, float } %e, 0
  %f0 = extractvalue { float, float, float, float } %f, 0
  %h0 = extractvalue { i16, i16 } %h, 0
  %s1 = fadd float %a0, %b1
  %s2 = fadd float %e0, %f0
  %s3 = fadd float %s1, %s2
  %z0 = sext i16 %h0 to i32
  %z1 = add i32 %c2, %d3
  %z2 = add i32 %q1, %q2
  %z3 = add i32 %z1, %z2
  %z4 = add i32 %z3, %z0
  %z5 = select i1 %q3, i32 %z4, i32 %g
  store float %s3, ptr addrspace(1) %p
  %o = getelementptr i32, ptr addrspace(1) %p, i32 1
  store i32 %z5, ptr addrspace(1) %o
  ret void
}
;; class async sm_80 ptx70
@async_buffer = internal addrspace(3) global [64 x i64] undef, align 16
define void @kernel_async(ptr addrspace(1) %p, ptr addrspace(3) %s) {
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) @async_buffer, ptr addrspace(1) %p)
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) @async_buffer, ptr addrspace(1) %p)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  call void @llvm.nvvm.cp.async.wait.all()
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %s, i32 32)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) %s)
  %a = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) %s)
  %b = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) %s, i64 %a)
  %c = call i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete.shared(ptr addrspace(3) %s, i32 1)
  %d = call i32 @llvm.nvvm.mbarrier.pending.count(i64 %c)
  call void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3) %s)
  %e = zext i1 %b to i32
  %f = add i32 %d, %e
  store i32 %f, ptr addrspace(1) %p
  ret void
}
;; class wmma sm_70 ptx61
define void @kernel_wmma(ptr addrspace(1) %a, ptr addrspace(3) %b, ptr %c, i32 %n) {
  %x = call { <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half> } @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16.p1(ptr addrspace(1) %a, i32 %n)
  %y = call { <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half> } @llvm.nvvm.wmma.m16n16k16.load.b.col.f16.p3(ptr addrspace(3) %b)
  %x0 = extractvalue { <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half> } %x, 0
  %x1 = extractvalue { <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half> } %x, 1
  %y0 = extractvalue { <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half> } %y, 0
  %y1 = extractvalue { <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half> } %y, 1
  %d = call { float, float, float, float, float, float, float, float } @llvm.nvvm.wmma.m16n16k16.mma.row.col.f32.f32(<2 x half> %x0, <2 x half> %x1, <2 x half> %x0, <2 x half> %x1, <2 x half> %x0, <2 x half> %x1, <2 x half> %x0, <2 x half> %x1, <2 x half> %y0, <2 x half> %y1, <2 x half> %y0, <2 x half> %y1, <2 x half> %y0, <2 x half> %y1, <2 x half> %y0, <2 x half> %y1, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0, float 0.0)
  %d0 = extractvalue { float, float, float, float, float, float, float, float } %d, 0
  %d1 = extractvalue { float, float, float, float, float, float, float, float } %d, 1
  call void @llvm.nvvm.wmma.m16n16k16.store.d.row.stride.f32.p0(ptr %c, float %d0, float %d1, float %d0, float %d1, float %d0, float %d1, float %d0, float %d1, i32 %n)
  ret void
}
;; class mma sm_80 ptx70
define void @kernel_mma(ptr addrspace(3) %s, ptr addrspace(1) %p) {
  %a = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %s)
  %b = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %s)
  %a0 = extractvalue { i32, i32, i32, i32 } %a, 0
  %a1 = extractvalue { i32, i32, i32, i32 } %a, 1
  %a2 = extractvalue { i32, i32, i32, i32 } %a, 2
  %a3 = extractvalue { i32, i32, i32, i32 } %a, 3
  %b0 = extractvalue { i32, i32 } %b, 0
  %b1 = extractvalue { i32, i32 } %b, 1
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float 0.0, float 1.0, float 2.0, float 3.0)
  %e = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, i32 0, i32 0, i32 0, i32 0)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %e0 = extractvalue { i32, i32, i32, i32 } %e, 3
  %f = sitofp i32 %e0 to float
  %g = fadd float %f, %d0
  store float %g, ptr addrspace(1) %p
  ret void
}
;; class cluster sm_90 ptx80
define void @kernel_cluster(ptr addrspace(3) %s, ptr addrspace(1) %p) {
  %a = call i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %c = call i1 @llvm.nvvm.is_explicit_cluster()
  %d = call ptr addrspace(3) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %s, i32 %b)
  %e = call i32 @llvm.nvvm.getctarank.shared.cluster(ptr addrspace(3) %d)
  call void @llvm.nvvm.barrier.cluster.arrive()
  call void @llvm.nvvm.barrier.cluster.wait()
  call void @llvm.nvvm.fence.sc.cluster()
  %f = select i1 %c, i32 %a, i32 %e
  store i32 %f, ptr addrspace(1) %p
  ret void
}
;; class other sm_70 ptx63
define void @kernel_other(ptr addrspace(1) %p, i32 %n) {
  %a = call i32 @llvm.nvvm.fns(i32 %n, i32 0, i32 1)
  call void @llvm.nvvm.nanosleep(i32 100)
  %b = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %n)
  %c = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %b, i32 %n)
  %d = extractvalue { i32, i1 } %c, 1
  %e = select i1 %d, i32 %a, i32 %b
  %f = call i32 asm sideeffect "{ .reg .b32 t; add.u32 t, $1, 1; mul.lo.u32 $0, t, 3; }", "=r,r"(i32 %e)
  store atomic i32 %f, ptr addrspace(1) %p monotonic, align 4
  %g = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  store i32 %g, ptr addrspace(1) %p
  ret void
}
