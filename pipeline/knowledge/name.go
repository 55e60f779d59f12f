package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const suffix = ".sqlite"

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckName returns an error that describes valid names if name is not one.
func CheckName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("knowledge base name %q: use 1 to 100 letters, digits and - _ . and begin with a letter or digit",
			name)
	}
	return nil
}

// Name derives a name for the knowledge base of a directory or page: its cleaned base name and eight hex digits of the
// hash of its absolute path or address, so that two directories called "docs" get different bases. The same directory
// always has the same name.
func Name(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = filepath.Clean(path)
	}
	if key, err := PageKey(path); IsURL(path) && err == nil { // without user and password
		abs = key
		path, _, _ = strings.Cut(key, "?")
	} else {
		path = abs
	}
	sum := sha256.Sum256([]byte(filepath.ToSlash(abs)))
	var b strings.Builder
	for _, r := range strings.ToLower(filepath.Base(path)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	base := strings.Trim(b.String(), "-._")
	if len(base) > 60 {
		base = base[:60]
	}
	if base == "" {
		base = "kb"
	}
	return base + "-" + hex.EncodeToString(sum[:4])
}

// Path returns the file of the named knowledge base below dir. The error is that of CheckName.
func Path(dir, name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(dir, name+suffix), nil
}

// List returns the sorted names of the knowledge bases in dir. A directory that does not exist has none.
func List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list knowledge bases: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && e.Type().IsRegular() && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Remove deletes the named knowledge base in dir. The error wraps fs.ErrNotExist if it does not exist.
func Remove(dir, name string) error {
	path, err := Path(dir, name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove knowledge base: %w", err)
	}
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove knowledge base: %w", err)
		}
	}
	return nil
}
