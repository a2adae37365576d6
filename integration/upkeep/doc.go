// Package upkeep tests the maintenance of a cluster while it works: that each job is done once wherever it is due, that a
// node which dies in the middle keeps nobody waiting, that cleaning up and delivering do not disturb each other, and that
// relay, scheduler and handlers get along with a pool of connections that is far too small.
package upkeep
