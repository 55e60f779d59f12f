package e5

// dotBlocksGo is the dot product of two vectors in blocks with scales.
func dotBlocksGo(w, x []int8, ws, xs []float32) float32 {
	sum := float32(0)
	for b := range ws {
		part := int32(0)
		wb, xb := w[b*block:][:block], x[b*block:][:block]
		for i, v := range wb {
			part += int32(v) * int32(xb[i])
		}
		sum += float32(part) * ws[b] * xs[b]
	}
	return sum
}

func dotGo(a, b []float32) float32 {
	b = b[:len(a)]
	sum := float32(0)
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
