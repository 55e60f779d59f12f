package narration

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Sound is audio with one channel of 16-bit samples.
type Sound struct {
	Rate    int // samples per second
	Samples []int16
}

// Duration returns the duration of the sound.
func (s Sound) Duration() time.Duration {
	return time.Duration(len(s.Samples)) * time.Second / time.Duration(max(1, s.Rate))
}

// Constants of WAV files.
const (
	headSize  = 12 // RIFF, size, WAVE
	chunkHead = 8  // name, size
	formatPCM = 1
	formatAny = 0xFFFE // extensible; 16-bit samples are still PCM
	fileHead  = headSize + chunkHead + 16 + chunkHead
	// endless is the chunk size from which the length is unknown, because the program wrote to a pipe.
	endless = 0x7FF00000
)

const (
	lowestRate  = 4000
	highestRate = 192_000
	mostChannel = 8
)

// ReadWAV parses a WAV file with 16-bit samples and mixes its channels. The length may be missing, as in files written
// to a pipe. A truncated file is an error.
func ReadWAV(body []byte) (Sound, error) {
	if len(body) < headSize || string(body[:4]) != "RIFF" || string(body[8:headSize]) != "WAVE" {
		return Sound{}, errors.New("not a WAV file")
	}
	sound, channels := Sound{}, 0
	for rest := body[headSize:]; len(rest) >= chunkHead; {
		name, size := string(rest[:4]), int(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[chunkHead:]
		unknown := size >= endless || size == 0 && name == "data"
		switch {
		case size > len(rest) && !(unknown && name == "data"):
			return Sound{}, fmt.Errorf("the WAV file is truncated: it has %d of %d bytes of chunk %q", len(rest), size, name)
		case unknown:
			size = len(rest)
		}
		chunk := rest[:size]
		rest = rest[min(len(rest), size+size%2):]
		switch name {
		case "fmt ":
			var err error
			if sound.Rate, channels, err = readFormat(chunk); err != nil {
				return Sound{}, err
			}
		case "data":
			if channels == 0 {
				return Sound{}, errors.New("the WAV file has no format before its samples")
			}
			sound.Samples = mixed(chunk, channels)
			if len(sound.Samples) == 0 {
				return Sound{}, errors.New("the WAV file has no samples")
			}
			return sound, nil
		}
	}
	return Sound{}, errors.New("the WAV file has no samples")
}

func readFormat(chunk []byte) (rate, channels int, err error) {
	if len(chunk) < 16 {
		return 0, 0, errors.New("the format chunk of the WAV file is truncated")
	}
	format, bits := binary.LittleEndian.Uint16(chunk), binary.LittleEndian.Uint16(chunk[14:])
	channels, rate = int(binary.LittleEndian.Uint16(chunk[2:])), int(binary.LittleEndian.Uint32(chunk[4:]))
	switch {
	case format != formatPCM && format != formatAny || bits != 16:
		return 0, 0, fmt.Errorf("the WAV file has samples of %d bits in format %d; only 16-bit PCM can be joined", bits,
			format)
	case channels < 1 || channels > mostChannel || rate < lowestRate || rate > highestRate:
		return 0, 0, fmt.Errorf("the WAV file has %d channels at %d Hz", channels, rate)
	}
	return rate, channels, nil
}

// mixed returns the samples of a chunk as the mean of all channels.
func mixed(chunk []byte, channels int) []int16 {
	samples := make([]int16, len(chunk)/2/channels)
	for i := range samples {
		sum := 0
		for c := range channels {
			sum += int(int16(binary.LittleEndian.Uint16(chunk[2*(i*channels+c):])))
		}
		samples[i] = int16(sum / channels)
	}
	return samples
}

// WAV returns the sound as a WAV file.
func (s Sound) WAV() []byte {
	data := 2 * len(s.Samples)
	b := make([]byte, 0, fileHead+data)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(fileHead-chunkHead+data))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, formatPCM)
	b = binary.LittleEndian.AppendUint16(b, 1) // number of channels
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*s.Rate))
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(data))
	for _, v := range s.Samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

const (
	fade    = 5 * time.Millisecond // at both ends of a piece, because abrupt edges click
	ceiling = 29_000               // maximum amplitude, about 1 dB below full scale
)

// join concatenates sounds of one rate with pauses and returns the start time of each. The amplitude is limited to
// ceiling.
func join(sounds []Sound, pauses []time.Duration) (out Sound, starts []time.Duration, err error) {
	out.Rate = sounds[0].Rate
	starts = make([]time.Duration, len(sounds))
	for i, s := range sounds {
		if s.Rate != out.Rate {
			return out, nil, fmt.Errorf("the engine answers with sounds of %d and %d Hz", out.Rate, s.Rate)
		}
		starts[i] = out.Duration()
		from := len(out.Samples)
		out.Samples = append(out.Samples, s.Samples...)
		soften(out.Samples[from:], int(fade*time.Duration(out.Rate)/time.Second))
		if i < len(sounds)-1 {
			silence := int(pauses[i] * time.Duration(out.Rate) / time.Second)
			out.Samples = append(out.Samples, make([]int16, silence)...)
		}
	}
	limit(out.Samples)
	return out, starts, nil
}

// soften fades in the first n samples and fades out the last n.
func soften(samples []int16, n int) {
	n = min(n, len(samples)/2)
	for i := range n {
		last := len(samples) - 1 - i
		samples[i] = int16(int(samples[i]) * i / n)
		samples[last] = int16(int(samples[last]) * i / n)
	}
}

// limit scales samples down if the loudest one exceeds the ceiling.
func limit(samples []int16) {
	if len(samples) == 0 {
		return
	}
	peak := max(int(slices.Max(samples)), -int(slices.Min(samples)))
	if peak <= ceiling {
		return
	}
	for i, v := range samples {
		samples[i] = int16(int(v) * ceiling / peak)
	}
}
