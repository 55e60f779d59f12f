//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// denied lists system calls that no computation needs: network, processes, memory of other processes, mounts, kernel
// objects with unlimited memory, and frequent targets of kernel exploits.
var denied = append([]uint32{
	unix.SYS_SOCKET, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PERSONALITY,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
	unix.SYS_FANOTIFY_INIT, unix.SYS_INOTIFY_INIT1, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_VMSPLICE,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_ACCT,
}, deniedHere...)

// callFilter returns a seccomp filter in the format of bwrap. It allows threads but not processes. clone3 fails with
// ENOSYS because filters cannot see its flags; the C library then uses clone.
func callFilter() []byte {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		anyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		give    = unix.BPF_RET | unix.BPF_K
		// offsets in struct seccomp_data, little-endian
		number, architecture, argument = 0, 4, 16
		refuse                         = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		foreignNumbers                 = 0x40000000 // x32 on amd64; unused elsewhere
	)
	f := []unix.SockFilter{
		{Code: load, K: architecture},
		{Code: equal, K: auditArch, Jt: 1},
		{Code: give, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: number},
		{Code: atLeast, K: foreignNumbers, Jf: 1},
		{Code: give, K: refuse},
		{Code: equal, K: unix.SYS_CLONE3, Jf: 1},
		{Code: give, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	for _, nr := range denied {
		f = append(f, unix.SockFilter{Code: equal, K: nr, Jf: 1}, unix.SockFilter{Code: give, K: refuse})
	}
	f = append(f,
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE, Jf: 3},
		unix.SockFilter{Code: load, K: argument},
		unix.SockFilter{Code: anyBit, K: unix.CLONE_THREAD, Jt: 1},
		unix.SockFilter{Code: give, K: refuse},
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW},
	)
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, f) // fixed size, in memory: cannot fail
	return out.Bytes()
}
