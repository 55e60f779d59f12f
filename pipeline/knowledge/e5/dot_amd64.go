package e5

import "golang.org/x/sys/cpu"

var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dotBlocksAVX2 and dotAVX2 do the same as dotBlocksGo and dotGo; n is the number of blocks, or of values and a
// multiple of 8.
//
//go:noescape
func dotBlocksAVX2(w, x *int8, ws, xs *float32, n int) float32

//go:noescape
func dotAVX2(a, b *float32, n int) float32

func dotBlocks(w, x []int8, ws, xs []float32) float32 {
	if !fast {
		return dotBlocksGo(w, x, ws, xs)
	}
	return dotBlocksAVX2(&w[0], &x[0], &ws[0], &xs[0], len(ws))
}

func dot(a, b []float32) float32 {
	n := len(a) &^ 7
	if !fast || n == 0 {
		return dotGo(a, b)
	}
	return dotAVX2(&a[0], &b[0], n) + dotGo(a[n:], b[n:])
}
