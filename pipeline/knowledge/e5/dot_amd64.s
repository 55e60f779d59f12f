#include "textflag.h"

// func dotBlocksAVX2(w, x *int8, ws, xs *float32, n int) float32
TEXT ·dotBlocksAVX2(SB), NOSPLIT, $0-44
	MOVQ w+0(FP), SI
	MOVQ x+8(FP), DI
	MOVQ ws+16(FP), R8
	MOVQ xs+24(FP), R9
	MOVQ n+32(FP), CX
	VXORPS Y0, Y0, Y0
	VPCMPEQW Y7, Y7, Y7
	VPSRLW $15, Y7, Y7 // sixteen times 1
blocks:
	VMOVDQU (DI), Y1
	VMOVDQU (SI), Y2
	VPSIGNB Y1, Y2, Y2      // weights with the signs of the values,
	VPABSB  Y1, Y1          // and the values without: VPMADDUBSW takes one side unsigned
	VPMADDUBSW Y2, Y1, Y3
	VPMADDWD Y7, Y3, Y3
	VCVTDQ2PS Y3, Y3
	VMOVSS (R8), X4
	VMULSS (R9), X4, X4
	VBROADCASTSS X4, Y4
	VFMADD231PS Y4, Y3, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $4, R8
	ADDQ $4, R9
	DECQ CX
	JNZ blocks
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+40(FP)
	VZEROUPPER
	RET

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPS Y0, Y0, Y0
values:
	VMOVUPS (SI), Y1
	VFMADD231PS (DI), Y1, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ values
	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VHADDPS X0, X0, X0
	VHADDPS X0, X0, X0
	VMOVSS X0, ret+24(FP)
	VZEROUPPER
	RET
