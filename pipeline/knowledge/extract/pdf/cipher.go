package pdf

import (
	"bytes"
	"crypto/aes"
	gocipher "crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
)

// cipher decrypts files encrypted with the empty password, which viewers open without a prompt.
type cipher struct {
	key  []byte
	aes  bool // RC4 if false
	long bool // 256-bit key, used for all objects
}

// padding pads passwords (ISO 32000-1, 7.6.3.3).
var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// newCipher returns the cipher for an encryption dictionary, or nil if nothing is encrypted. The error wraps
// ErrEncrypted if the encryption is not supported or the empty password does not open the file.
func newCipher(d *document, o any) (*cipher, error) {
	e := d.dict(o)
	if e == nil || d.name(e["Filter"]) != "Standard" {
		return nil, fmt.Errorf("%w: unsupported encryption method", ErrEncrypted)
	}
	version, revision := d.int(e["V"]), d.int(e["R"])
	str := func(key name) []byte { t, _ := d.resolve(e[key]).(text); return []byte(t) }
	c := &cipher{}
	bits := 40
	if n := d.int(e["Length"]); n >= 40 && n <= 128 && n%8 == 0 {
		bits = n
	}
	if version >= 4 {
		filter := d.dict(d.dict(e["CF"])[d.name(e["StmF"])])
		switch d.name(filter["CFM"]) {
		case "V2":
			bits = 128
		case "AESV2":
			c.aes, bits = true, 128
		case "AESV3":
			c.aes, c.long = true, true
		default: // Identity
			return nil, nil
		}
	}
	if c.long {
		u, ue := str("U"), str("UE")
		if len(u) < 48 || len(ue) < 32 {
			return nil, fmt.Errorf("%w: its keys are cut off", ErrEncrypted)
		}
		hash := func(salt []byte) []byte {
			if revision >= 6 {
				return hardened(salt)
			}
			h := sha256.Sum256(salt)
			return h[:]
		}
		if !bytes.Equal(hash(u[32:40]), u[:32]) {
			return nil, ErrEncrypted
		}
		block, err := aes.NewCipher(hash(u[40:48]))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrEncrypted, err)
		}
		c.key = make([]byte, 32)
		gocipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(c.key, ue[:32])
		return c, nil
	}
	var id []byte
	if ids := d.array(d.trailer["ID"]); len(ids) > 0 {
		t, _ := d.resolve(ids[0]).(text)
		id = []byte(t)
	}
	h := md5.New()
	h.Write(padding)
	owner := str("O")
	h.Write(owner[:min(len(owner), 32)])
	h.Write(binary.LittleEndian.AppendUint32(nil, uint32(d.int(e["P"]))))
	h.Write(id)
	if plain, ok := d.resolve(e["EncryptMetadata"]).(bool); ok && !plain && revision >= 4 {
		h.Write([]byte{255, 255, 255, 255})
	}
	key := h.Sum(nil)
	size := 5
	if revision >= 3 {
		size = bits / 8
		for range 50 {
			sum := md5.Sum(key[:size])
			key = sum[:]
		}
	}
	c.key = key[:size]
	if !c.opens(str("U"), id, revision) {
		return nil, ErrEncrypted
	}
	return c, nil
}

// opens verifies the key against the file's U entry.
func (c *cipher) opens(u, id []byte, revision int) bool {
	if revision < 3 {
		return len(u) >= 32 && bytes.Equal(crypt(c.key, padding), u[:32])
	}
	h := md5.New()
	h.Write(padding)
	h.Write(id)
	sum := h.Sum(nil)
	for i := range 20 {
		key := bytes.Clone(c.key)
		for j := range key {
			key[j] ^= byte(i)
		}
		sum = crypt(key, sum)
	}
	return len(u) >= 16 && bytes.Equal(sum, u[:16])
}

func crypt(key, data []byte) []byte {
	out := make([]byte, len(data))
	if r, err := rc4.NewCipher(key); err == nil {
		r.XORKeyStream(out, data)
	}
	return out
}

// hardened computes the hash of revision 6 (ISO 32000-2, 7.6.4.3.4) for the empty password.
func hardened(salt []byte) []byte {
	sum := sha256.Sum256(salt)
	k := sum[:]
	for round := 0; ; round++ {
		k1 := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		e := make([]byte, len(k1))
		gocipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, k1)
		mod := 0
		for _, b := range e[:16] {
			mod += int(b)
		}
		switch mod % 3 {
		case 0:
			h := sha256.Sum256(e)
			k = h[:]
		case 1:
			h := sha512.Sum384(e)
			k = h[:]
		default:
			h := sha512.Sum512(e)
			k = h[:]
		}
		if round >= 63 && int(e[len(e)-1]) <= round-32 {
			return k[:32]
		}
	}
}

func (c *cipher) stream(data []byte, id ref) []byte {
	key := c.key
	if !c.long {
		h := md5.New()
		h.Write(key)
		h.Write([]byte{byte(id.num), byte(id.num >> 8), byte(id.num >> 16), byte(id.gen), byte(id.gen >> 8)})
		if c.aes {
			h.Write([]byte("sAlT"))
		}
		key = h.Sum(nil)[:min(16, len(c.key)+5)]
	}
	if !c.aes {
		return crypt(key, data)
	}
	if len(data) < 2*aes.BlockSize {
		return nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil
	}
	body := data[aes.BlockSize:]
	out := make([]byte, len(body)/aes.BlockSize*aes.BlockSize)
	gocipher.NewCBCDecrypter(block, data[:aes.BlockSize]).CryptBlocks(out, body[:len(out)])
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}
	return out
}

// strings decrypts the strings in an object.
func (c *cipher) strings(o any, id ref, depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch v := o.(type) {
	case text:
		return text(c.stream([]byte(v), id))
	case array:
		for i := range v {
			v[i] = c.strings(v[i], id, depth+1)
		}
	case dict:
		for k := range v {
			v[k] = c.strings(v[k], id, depth+1)
		}
	case *stream:
		c.strings(v.dict, id, depth+1)
	}
	return o
}
