//go:build unix

package sandbox

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// withMemory lets modules allocate their memory outside Go's heap. It grows without copying, and returns to the system
// with its module.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx,
		experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
			all, err := syscall.Mmap(-1, 0, int(most), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|
				syscall.MAP_PRIVATE)
			if err != nil { // out of address space: the module gets no memory and cannot start
				return &mapped{}
			}
			return &mapped{all: all}
		}))
}

type mapped struct{ all []byte }

// Reallocate returns the first size bytes, or nil if size exceeds the mapping.
func (m *mapped) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size]
}

func (m *mapped) Free() {
	if m.all != nil {
		_ = syscall.Munmap(m.all) // mapped above: cannot fail
		m.all = nil
	}
}
