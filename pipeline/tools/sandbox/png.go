package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image/png"
)

const (
	pngMagic  = "\x89PNG\r\n\x1a\n"
	maxPixels = 4096 // per side
)

// pngSize returns the number of pixels of a PNG picture. The error says why it cannot be shown.
func pngSize(body []byte) (int, error) {
	c, err := png.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		return 0, fmt.Errorf("not a PNG picture: %w", err)
	case c.Width > maxPixels || c.Height > maxPixels:
		return 0, fmt.Errorf("%d x %d pixels, but at most %d are allowed per side", c.Width, c.Height, maxPixels)
	}
	return c.Width * c.Height, nil
}

// pngChunks are the chunks needed for drawing. Texts, times, profiles, animations and data after the end are removed.
var pngChunks = words("IHDR PLTE tRNS gAMA cHRM sRGB pHYs IDAT IEND")

// CleanPNG copies a PNG picture without the parts that are not needed to show it. The error says why body is not a PNG
// picture.
func CleanPNG(body []byte) ([]byte, error) {
	if _, err := pngSize(body); err != nil {
		return nil, err
	}
	out := []byte(pngMagic)
	for rest := body[len(pngMagic):]; ; {
		if len(rest) < 12 {
			return nil, errors.New("not a PNG picture: it has no IEND chunk")
		}
		size, kind := binary.BigEndian.Uint32(rest), string(rest[4:8])
		if int64(size) > int64(len(rest)-12) {
			return nil, errors.New("not a PNG picture: it is truncated")
		}
		chunk := rest[:12+size]
		rest = rest[12+size:]
		if crc32.ChecksumIEEE(chunk[4:8+size]) != binary.BigEndian.Uint32(chunk[8+size:]) {
			return nil, errors.New("not a PNG picture: its checksums are wrong")
		}
		if pngChunks[kind] {
			out = append(out, chunk...)
		}
		if kind == "IEND" {
			return out, nil
		}
	}
}
