// Package build compiles the programs that the judge runs into one folder.
package build

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	kubeModule  = "k8s.io/kubernetes"
	suiteModule = "sigs.k8s.io/gateway-api/conformance"
)

// stamps hold the hash of the sources that programs were compiled from.
const (
	stampAll  = "stamp"
	stampKube = "stamp-kube"
)

// All compiles every program of the module in root into dir, unless nothing
// has changed since the last time.
func All(root, dir string) error {
	return unlessDone(root, dir, stampAll, func() error {
		if err := programs(root, dir, "./cmd/kube", "./cmd/whoamidns", "./cmd/stub", suiteModule+"/echo-basic"); err != nil {
			return err
		}
		return run(root, "go", "test", "-c", "-buildvcs=false", "-ldflags", "-s -w",
			"-o", filepath.Join(dir, "suite.test"), "./suite")
	})
}

// Kube compiles the Kubernetes API alone, which is all that admission needs.
func Kube(root, dir string) error {
	return unlessDone(root, dir, stampKube, func() error { return programs(root, dir, "./cmd/kube") })
}

func unlessDone(root, dir, stamp string, compile func() error) error {
	now, err := sources(root, dir)
	if err != nil {
		return err
	}
	for _, name := range []string{stamp, stampAll} {
		if old, err := os.ReadFile(filepath.Join(dir, name)); err == nil && string(old) == now {
			return nil
		}
	}
	log.Print("compiling (the first time takes minutes)")
	if err := compile(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, stamp), []byte(now), 0o644)
}

// sources is a hash of all that the programs are compiled from.
func sources(root, dir string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), dir)
	for _, pattern := range []string{"go.mod", "go.sum", "*/*.go", "*/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			fmt.Fprintln(hash, strings.TrimPrefix(file, root), len(text))
			hash.Write(text)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// programs compiles commands against the edited modules. The API server then
// says the version of its module, as an official build does.
func programs(root, dir string, packages ...string) error {
	modfile, err := patch(root, dir)
	if err != nil {
		return err
	}
	version, err := output(root, "go", "list", "-m", "-f", "{{.Version}}", kubeModule)
	if err != nil {
		return err
	}
	const variable = " -X k8s.io/component-base/version."
	number := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	flags := "-s -w" + variable + "gitVersion=" + version +
		variable + "gitMajor=" + number[0] + variable + "gitMinor=" + number[1]
	return run(root, "go", append([]string{
		"build", "-buildvcs=false", "-modfile", modfile, "-ldflags", flags, "-o", dir + "/",
	}, packages...)...)
}

// ModuleDir is the folder of a module in the module cache.
func ModuleDir(root, module string) (string, error) {
	if err := run(root, "go", "mod", "download", module); err != nil {
		return "", err
	}
	return output(root, "go", "list", "-m", "-f", "{{.Dir}}", module)
}

// Files are those of a module in some version, which may ask for a newer Go
// than there is: then the module can be read though not compiled.
func Files(root, module, version string) (fs.FS, error) {
	name := module + "@" + version
	text, failed := command(root, "go", "mod", "download", "-json", name).Output()
	var found struct{ Zip, Error string }
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, errors.Join(failed, err)
	}
	if found.Zip == "" {
		return nil, fmt.Errorf("%s: %s", name, found.Error)
	}
	archive, err := os.ReadFile(found.Zip)
	if err != nil {
		return nil, err
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	return fs.Sub(files, name)
}

func command(root, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	return cmd
}

func run(root, name string, args ...string) error {
	if err := command(root, name, args...).Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

func output(root, name string, args ...string) (string, error) {
	out, err := command(root, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
