//go:build unix

package sandbox

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// withMemory lets modules have memory of their own outside Go's heap: it grows without being copied and goes back to
// the system with its module.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx,
		experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
			all, err := syscall.Mmap(-1, 0, int(most), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|
				syscall.MAP_PRIVATE)
			if err != nil { // the machine is out of address space: the module gets none and cannot start
				return &mapped{}
			}
			return &mapped{all: all}
		}))
}

type mapped struct{ all []byte }

// Reallocate returns the first size bytes; nil where they are not to be had.
func (m *mapped) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size]
}

func (m *mapped) Free() {
	if m.all != nil {
		_ = syscall.Munmap(m.all) // it was mapped by us: cannot fail
		m.all = nil
	}
}
