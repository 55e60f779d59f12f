package sandbox

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	wsys "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// scratch is an in-memory file system for one program. A host directory would not isolate,
// because wazero follows symbolic links out of a mounted directory. scratch has files and directories, but no links or
// permissions.
//
// Not safe for concurrent use: a module has one thread.
type scratch struct {
	wsys.UnimplementedFS
	nodes       map[string]*node // by clean path; "" is the root
	inodes      uint64
	bytes       int
	files, disk int // limits
	onFull      func()
}

type node struct {
	ino   uint64
	dir   bool
	data  []byte
	mtime int64
	links int // 0: removed, but may still be open
}

func newScratch(l Limits, onFull func()) *scratch {
	s := &scratch{nodes: map[string]*node{}, files: l.Files, disk: l.Disk, onFull: onFull}
	s.add("", true)
	return s
}

var _ wsys.FS = (*scratch)(nil)

func clean(p string) string {
	return strings.TrimPrefix(path.Clean("/"+p), "/")
}

func (s *scratch) add(p string, dir bool) *node {
	s.inodes++
	n := &node{ino: s.inodes, dir: dir, mtime: time.Now().UnixNano(), links: 1}
	s.nodes[p] = n
	return n
}

// create adds an entry if its directory exists and the limits allow it.
func (s *scratch) create(p string, dir bool) (*node, wsys.Errno) {
	parent := path.Dir("/" + p)[1:]
	switch d := s.nodes[parent]; {
	case d == nil:
		return nil, wsys.ENOENT
	case !d.dir:
		return nil, wsys.ENOTDIR
	case len(p) > 1024:
		return nil, wsys.ENAMETOOLONG
	case len(s.nodes) > s.files:
		s.onFull()
		return nil, wsys.EACCES // wazero has no ENOSPC; the program is ending
	}
	return s.add(p, dir), 0
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

// free releases the space of a removed file. Open handles then see an empty file.
func (s *scratch) free(n *node) {
	n.links = 0
	s.bytes -= len(n.data)
	n.data = nil
}

func (s *scratch) OpenFile(p string, flag wsys.Oflag, _ fs.FileMode) (wsys.File, wsys.Errno) {
	p = clean(p)
	n := s.nodes[p]
	writes := flag&(wsys.O_RDWR|wsys.O_WRONLY) != 0
	switch {
	case n == nil && flag&wsys.O_CREAT == 0:
		return nil, wsys.ENOENT
	case n == nil:
		var errno wsys.Errno
		if n, errno = s.create(p, false); errno != 0 {
			return nil, errno
		}
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
	return &handle{s: s, n: n, path: p, writes: writes, appends: flag&wsys.O_APPEND != 0}, 0
}

func (s *scratch) Stat(p string) (sys.Stat_t, wsys.Errno) {
	if n := s.nodes[clean(p)]; n != nil {
		return n.stat(), 0
	}
	return sys.Stat_t{}, wsys.ENOENT
}

func (s *scratch) Lstat(p string) (sys.Stat_t, wsys.Errno) { return s.Stat(p) }

func (s *scratch) Mkdir(p string, _ fs.FileMode) wsys.Errno {
	p = clean(p)
	if s.nodes[p] != nil {
		return wsys.EEXIST
	}
	_, errno := s.create(p, true)
	return errno
}

func (s *scratch) Unlink(p string) wsys.Errno {
	p = clean(p)
	switch n := s.nodes[p]; {
	case n == nil:
		return wsys.ENOENT
	case n.dir:
		return wsys.EISDIR
	default:
		delete(s.nodes, p)
		s.free(n)
		return 0
	}
}

func (s *scratch) Rmdir(p string) wsys.Errno {
	p = clean(p)
	switch n := s.nodes[p]; {
	case n == nil:
		return wsys.ENOENT
	case !n.dir:
		return wsys.ENOTDIR
	case p == "":
		return wsys.EPERM
	case len(s.children(p)) > 0:
		return wsys.ENOTEMPTY
	default:
		delete(s.nodes, p)
		return 0
	}
}

// Rename moves a file, or an empty directory.
func (s *scratch) Rename(from, to string) wsys.Errno {
	from, to = clean(from), clean(to)
	n, there := s.nodes[from], s.nodes[to]
	parent := s.nodes[path.Dir("/" + to)[1:]]
	switch {
	case n == nil, parent == nil:
		return wsys.ENOENT
	case from == to:
		return 0
	case !parent.dir:
		return wsys.ENOTDIR
	case n.dir && len(s.children(from)) > 0, from == "", to == "":
		return wsys.ENOSYS
	case there != nil && there.dir != n.dir, there != nil && there.dir && len(s.children(to)) > 0:
		return wsys.EEXIST
	case there != nil:
		s.free(there)
	}
	delete(s.nodes, from)
	s.nodes[to] = n
	return 0
}

func (s *scratch) Chmod(string, fs.FileMode) wsys.Errno    { return 0 }
func (s *scratch) Utimens(string, int64, int64) wsys.Errno { return 0 }

// children returns the names in a directory, sorted.
func (s *scratch) children(dir string) []string {
	var names []string
	for p := range s.nodes {
		if p != "" && path.Dir("/" + p)[1:] == dir {
			names = append(names, path.Base(p))
		}
	}
	slices.Sort(names)
	return names
}

// figures returns the files with names and sizes of drawings.
func (s *scratch) figures() []File {
	var files []File
	for _, name := range s.children("") {
		n := s.nodes[name]
		drawing := !n.dir && strings.HasSuffix(strings.ToLower(name), ".svg")
		if drawing && len(n.data) <= maxFigureBytes && len(files) < maxFigures {
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
	return sys.Stat_t{Dev: 1, Ino: n.ino, Mode: mode, Nlink: uint64(n.links), Size: int64(len(n.data)), Atim: n.mtime,
		Mtim: n.mtime, Ctim: n.mtime}
}

// handle is an open file or directory.
type handle struct {
	wsys.UnimplementedFile
	s               *scratch
	n               *node
	path            string
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
	case h.n.dir, !h.writes, h.n.links == 0: // a removed file's space is no longer counted
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
	case !h.writes, h.n.links == 0:
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
	names := h.s.children(h.path)
	names = names[min(h.listed, len(names)):]
	if n > 0 && len(names) > n {
		names = names[:n]
	}
	h.listed += len(names)
	entries := make([]wsys.Dirent, len(names))
	for i, name := range names {
		child := h.s.nodes[path.Join(h.path, name)]
		entries[i] = wsys.Dirent{Name: name, Ino: child.ino, Type: child.stat().Mode.Type()}
	}
	return entries, 0
}
