// Package buildinfo reads which versions of its dependencies a program was built with.
package buildinfo

import "runtime/debug"

// ModuleVersion returns the version of the module, or "unknown version" where the build does not tell, as in some
// builds of tests.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == path {
				return module.Version
			}
		}
	}
	return "unknown version"
}
