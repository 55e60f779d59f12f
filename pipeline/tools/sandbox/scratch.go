package sandbox

import (
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	wsys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// scratch is an in-memory directory for one program. A host directory would not isolate, because wazero follows
// symbolic links out of a mounted directory. scratch has files, but no directories, links or permissions.
//
// Not safe for concurrent use: a module has one thread.
type scratch struct {
	wsys.UnimplementedFS
	nodes       map[string]*node // by name; "" is the directory itself
	inodes      uint64
	bytes       int
	files, disk int // limits
	onFull      func()
}

type node struct {
	ino     uint64
	dir     bool
	data    []byte
	mtime   int64
	removed bool // but it may still be open
}

func newScratch(l Limits, onFull func()) *scratch {
	s := &scratch{nodes: map[string]*node{}, files: l.Files, disk: l.Disk, onFull: onFull}
	s.add("").dir = true
	return s
}

var _ wsys.FS = (*scratch)(nil)

func clean(p string) string {
	return strings.TrimPrefix(path.Clean("/"+p), "/")
}

func (s *scratch) add(name string) *node {
	s.inodes++
	n := &node{ino: s.inodes, mtime: time.Now().UnixNano()}
	s.nodes[name] = n
	return n
}

// resize sets the length of a file, within the limit.
func (s *scratch) resize(n *node, size int) wsys.Errno {
	if size > s.disk || s.bytes+size-len(n.data) > s.disk {
		s.onFull()
		return wsys.EIO
	}
	s.bytes += size - len(n.data)
	if size <= len(n.data) {
		n.data = slices.Clip(n.data[:size])
	} else {
		n.data = append(n.data, make([]byte, size-len(n.data))...)
	}
	return 0
}

func (s *scratch) OpenFile(p string, flag wsys.Oflag, _ fs.FileMode) (wsys.File, wsys.Errno) {
	p = clean(p)
	n := s.nodes[p]
	writes := flag&(wsys.O_RDWR|wsys.O_WRONLY) != 0
	switch {
	case n == nil && flag&wsys.O_CREAT == 0, strings.Contains(p, "/"):
		return nil, wsys.ENOENT
	case n == nil && len(p) > 1024:
		return nil, wsys.ENAMETOOLONG
	case n == nil && len(s.nodes) > s.files:
		s.onFull()
		return nil, wsys.EACCES // wazero has no ENOSPC; the program is ending
	case n == nil:
		n = s.add(p)
	case flag&wsys.O_CREAT != 0 && flag&wsys.O_EXCL != 0:
		return nil, wsys.EEXIST
	case n.dir && writes:
		return nil, wsys.EISDIR
	}
	if flag&wsys.O_DIRECTORY != 0 && !n.dir {
		return nil, wsys.ENOTDIR
	}
	if flag&wsys.O_TRUNC != 0 && writes && !n.dir {
		s.resize(n, 0)
	}
	return &handle{s: s, n: n, writes: writes, appends: flag&wsys.O_APPEND != 0}, 0
}

func (s *scratch) Stat(p string) (sys.Stat_t, wsys.Errno) {
	if n := s.nodes[clean(p)]; n != nil {
		return n.stat(), 0
	}
	return sys.Stat_t{}, wsys.ENOENT
}

func (s *scratch) Lstat(p string) (sys.Stat_t, wsys.Errno) { return s.Stat(p) }

func (s *scratch) Mkdir(string, fs.FileMode) wsys.Errno { return wsys.EACCES }

// Unlink removes a file. Open handles then see an empty file.
func (s *scratch) Unlink(p string) wsys.Errno {
	p = clean(p)
	n := s.nodes[p]
	switch {
	case n == nil:
		return wsys.ENOENT
	case n.dir:
		return wsys.EISDIR
	}
	delete(s.nodes, p)
	s.bytes -= len(n.data)
	n.data, n.removed = nil, true
	return 0
}

// Rename moves a file.
func (s *scratch) Rename(from, to string) wsys.Errno {
	from, to = clean(from), clean(to)
	n := s.nodes[from]
	switch {
	case n == nil, strings.Contains(to, "/"):
		return wsys.ENOENT
	case n.dir, to == "":
		return wsys.EISDIR
	case from == to:
		return 0
	}
	_ = s.Unlink(to)
	delete(s.nodes, from)
	s.nodes[to] = n
	return 0
}

func (s *scratch) Chmod(string, fs.FileMode) wsys.Errno    { return 0 }
func (s *scratch) Utimens(string, int64, int64) wsys.Errno { return 0 }

// names returns the names of the files, sorted.
func (s *scratch) names() []string {
	return slices.Sorted(maps.Keys(s.nodes))[1:] // without the directory itself
}

// figures returns the files with names and sizes of drawings.
func (s *scratch) figures() []File {
	var files []File
	for _, name := range s.names() {
		drawing := strings.HasSuffix(strings.ToLower(name), ".svg")
		if n := s.nodes[name]; drawing && len(n.data) <= maxFigureBytes && len(files) < maxFigures {
			files = append(files, File{Name: name, Body: slices.Clone(n.data)})
		}
	}
	return files
}

func (n *node) stat() sys.Stat_t {
	mode := fs.FileMode(0o600)
	if n.dir {
		mode = fs.ModeDir | 0o700
	}
	return sys.Stat_t{Dev: 1, Ino: n.ino, Mode: mode, Nlink: 1, Size: int64(len(n.data)), Atim: n.mtime,
		Mtim: n.mtime, Ctim: n.mtime}
}

// handle is an open file or directory.
type handle struct {
	wsys.UnimplementedFile
	s               *scratch
	n               *node
	at              int64
	writes, appends bool
	listed          int
}

func (h *handle) Dev() (uint64, wsys.Errno)       { return 1, 0 }
func (h *handle) Ino() (sys.Inode, wsys.Errno)    { return h.n.ino, 0 }
func (h *handle) IsDir() (bool, wsys.Errno)       { return h.n.dir, 0 }
func (h *handle) IsAppend() bool                  { return h.appends }
func (h *handle) SetAppend(on bool) wsys.Errno    { h.appends = on; return 0 }
func (h *handle) Stat() (sys.Stat_t, wsys.Errno)  { return h.n.stat(), 0 }
func (h *handle) Utimens(int64, int64) wsys.Errno { return 0 }
func (h *handle) Sync() wsys.Errno                { return 0 }
func (h *handle) Datasync() wsys.Errno            { return 0 }
func (h *handle) Close() wsys.Errno               { return 0 }

func (h *handle) Read(buf []byte) (int, wsys.Errno) {
	n, errno := h.Pread(buf, h.at)
	h.at += int64(n)
	return n, errno
}

func (h *handle) Pread(buf []byte, off int64) (int, wsys.Errno) {
	switch {
	case h.n.dir:
		return 0, wsys.EISDIR
	case off < 0:
		return 0, wsys.EINVAL
	case off >= int64(len(h.n.data)):
		return 0, 0
	}
	return copy(buf, h.n.data[off:]), 0
}

func (h *handle) Write(buf []byte) (int, wsys.Errno) {
	if h.appends {
		h.at = int64(len(h.n.data))
	}
	n, errno := h.Pwrite(buf, h.at)
	h.at += int64(n)
	return n, errno
}

func (h *handle) Pwrite(buf []byte, off int64) (int, wsys.Errno) {
	switch {
	case h.n.dir, !h.writes, h.n.removed: // a removed file's space is no longer counted
		return 0, wsys.EBADF
	case off < 0 || off > 1<<40:
		return 0, wsys.EINVAL
	}
	if end := int(off) + len(buf); end > len(h.n.data) {
		if errno := h.s.resize(h.n, end); errno != 0 {
			return 0, errno
		}
	}
	h.n.mtime = time.Now().UnixNano()
	return copy(h.n.data[off:], buf), 0
}

func (h *handle) Truncate(size int64) wsys.Errno {
	switch {
	case h.n.dir:
		return wsys.EISDIR
	case !h.writes, h.n.removed:
		return wsys.EBADF
	case size < 0 || size > 1<<40:
		return wsys.EINVAL
	}
	return h.s.resize(h.n, int(size))
}

// position is an alias of int64. With int64, vet would report Seek(int64, int) as an incorrect io.Seeker.
type position = int64

func (h *handle) Seek(offset position, whence int) (int64, wsys.Errno) {
	switch whence {
	case io.SeekCurrent:
		offset += h.at
	case io.SeekEnd:
		offset += int64(len(h.n.data))
	case io.SeekStart:
	default:
		return 0, wsys.EINVAL
	}
	if offset < 0 {
		return 0, wsys.EINVAL
	}
	if h.n.dir {
		h.listed = 0
	}
	h.at = offset
	return offset, 0
}

func (h *handle) Readdir(n int) ([]wsys.Dirent, wsys.Errno) {
	if !h.n.dir {
		return nil, wsys.ENOTDIR
	}
	names := h.s.names()
	names = names[min(h.listed, len(names)):]
	if n > 0 && len(names) > n {
		names = names[:n]
	}
	h.listed += len(names)
	entries := make([]wsys.Dirent, len(names))
	for i, name := range names {
		entries[i] = wsys.Dirent{Name: name, Ino: h.s.nodes[name].ino}
	}
	return entries, 0
}
