// Package crash kills processes and servers at every point at which it could matter, and compares what was delivered
// with what was committed.
//
// Publishers, relays and maintenance are child processes that end by SIGKILL: before the commit, between commit and
// claim, between claim and delivery, between delivery and settlement, in the middle of a recovery, and at random while
// many entries are in flight. After each test nothing may be lost, nothing may have come out of order within its
// aggregate, and what was delivered twice must have been in flight when its node was killed, with the same message id.
//
// What is not tested: a machine that loses power. The servers here keep what they handed to the operating system.
package crash
