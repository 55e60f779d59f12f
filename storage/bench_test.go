package storage_test

import (
	"bytes"
	"fmt"
	"testing"

	"nightdesk/storage"
	"nightdesk/storage/storagetest"
)

func eachStore(b *testing.B, bench func(b *testing.B, s storage.Store)) {
	b.Run("dir", func(b *testing.B) { bench(b, storage.NewDir(b.TempDir())) })
	b.Run("fake-s3", func(b *testing.B) { bench(b, storagetest.Empty(b, storagetest.FakeS3(b))) })
	b.Run("versitygw", func(b *testing.B) { bench(b, storagetest.Empty(b, storagetest.Versitygw(b))) })
}

var sizes = []struct {
	name  string
	bytes int
}{{"2KB", 2 << 10}, {"64KB", 64 << 10}, {"24MB", 24 << 20}}

func BenchmarkPut(b *testing.B) {
	eachStore(b, func(b *testing.B, s storage.Store) {
		for _, size := range sizes {
			b.Run(size.name, func(b *testing.B) {
				body := bytes.Repeat([]byte("x"), size.bytes)
				b.SetBytes(int64(size.bytes))
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i++
					if err := s.Put(b.Context(), fmt.Sprintf("cache/r/%d", i%16), body); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

func BenchmarkGet(b *testing.B) {
	eachStore(b, func(b *testing.B, s storage.Store) {
		for _, size := range sizes {
			b.Run(size.name, func(b *testing.B) {
				if err := s.Put(b.Context(), "cache/r/x", bytes.Repeat([]byte("x"), size.bytes)); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size.bytes))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Get(b.Context(), "cache/r/x"); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
