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
	maxPixels = 4096 // of either side
)

// pngSize returns the pixels of a PNG picture. The error says why there is none to show.
func pngSize(body []byte) (int, error) {
	c, err := png.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		return 0, fmt.Errorf("not a PNG picture: %w", err)
	case c.Width > maxPixels || c.Height > maxPixels:
		return 0, fmt.Errorf("%d x %d pixels, more than %d", c.Width, c.Height, maxPixels)
	}
	return c.Width * c.Height, nil
}

// pngChunks are what a picture is drawn from. Texts, times, profiles, animations and what follows the end go.
var pngChunks = words("IHDR PLTE tRNS gAMA cHRM sRGB pHYs IDAT IEND")

// CleanPNG copies a PNG picture without what it does not need for being shown. The error says why it is none.
func CleanPNG(body []byte) ([]byte, error) {
	if _, err := pngSize(body); err != nil {
		return nil, err
	}
	out := []byte(pngMagic)
	for rest := body[len(pngMagic):]; ; {
		if len(rest) < 12 {
			return nil, errors.New("not a PNG picture: it has no end")
		}
		size, kind := binary.BigEndian.Uint32(rest), string(rest[4:8])
		if int64(size) > int64(len(rest)-12) {
			return nil, errors.New("not a PNG picture: it is cut off")
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
