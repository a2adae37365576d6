package consumer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Root is the path that all modules of satchel have in common.
const Root = "github.com/satchel-go/satchel"

// Modules are the folders of the modules that users get, relative to the repository.
var Modules = []string{
	"core", "schema", "schema/migrator", "servers", "postgres", "adapters-service", "adapters-delayedjob",
	"adapters-kafka", "adapters-http", "postgrestest", "wiring",
}

// Publish writes every module of a repository into a module proxy, a folder that GOPROXY can
// name as file://, under one version.
func Publish(repository, proxy, version string) error {
	for _, name := range Modules {
		if err := publish(filepath.Join(repository, name), proxy, module.Version{Path: Root + "/" + name, Version: version}); err != nil {
			return fmt.Errorf("publish %s: %w", name, err)
		}
	}
	return nil
}

func publish(source, proxy string, m module.Version) (err error) {
	stage, err := os.MkdirTemp("", "satchel-stage-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	if err := copyModule(source, stage); err != nil {
		return err
	}
	doc, err := released(filepath.Join(source, "go.mod"), m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(stage, "go.mod"), doc, 0o600); err != nil {
		return err
	}

	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	folder := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, doc := range map[string][]byte{"list": []byte(m.Version + "\n"), m.Version + ".info": info, m.Version + ".mod": doc} {
		if err := os.WriteFile(filepath.Join(folder, name), doc, 0o600); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(folder, m.Version+".zip"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	return zip.CreateFromDir(archive, m, stage)
}

// released returns the go.mod of a release: own modules are required in the released
// version, and nothing is replaced.
func released(path string, m module.Version) ([]byte, error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse(path, doc, nil)
	if err != nil {
		return nil, err
	}
	if file.Module.Mod.Path != m.Path {
		return nil, fmt.Errorf("the module calls itself %s", file.Module.Mod.Path)
	}
	for _, r := range slices.Clone(file.Require) {
		name, own := strings.CutPrefix(r.Mod.Path, Root+"/")
		if !own {
			continue
		}
		if !slices.Contains(Modules, name) {
			return nil, fmt.Errorf("%s is required, and is not published", r.Mod.Path)
		}
		if err := file.AddRequire(r.Mod.Path, m.Version); err != nil {
			return nil, err
		}
	}
	for _, r := range slices.Clone(file.Replace) {
		if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	file.Cleanup()
	return file.Format()
}

// copyModule copies a module without the modules inside it.
func copyModule(source, target string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			if _, err := os.Stat(filepath.Join(path, "go.mod")); relative != "." && err == nil {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(target, relative), 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		doc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, relative), doc, 0o600)
	})
}
