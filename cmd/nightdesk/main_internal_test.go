package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary serve as the program: scripts and process tests run the real thing.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nightdesk": func() {
		if dir := os.Getenv("FLEET_PROFILE"); dir != "" && len(os.Args) > 1 && os.Args[1] == "worker" {
			profile(filepath.Join(dir, strconv.Itoa(os.Getpid())+".pprof"))
		}
		main()
	}})
}

// profile records what this process spends processor time on until it gets SIGUSR1. Then the file is there, whole.
func profile(path string) {
	file, err := os.Create(path + ".part")
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		<-asked
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			panic(err)
		}
		if err := os.Rename(path+".part", path); err != nil {
			panic(err)
		}
	}()
}
