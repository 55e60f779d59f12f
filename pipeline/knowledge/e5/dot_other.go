//go:build !amd64

package e5

func dotBlocks(w, x []int8, ws, xs []float32) float32 { return dotBlocksGo(w, x, ws, xs) }
func dot(a, b []float32) float32                      { return dotGo(a, b) }
