// Package untrusted decodes data files that an app brings. Anybody may have written an app, so each decoder bounds what
// it reads: the size of the text, how deep it nests and how much it expands to.
//
// Begin with [DecodeTOML], and with [ReadSettings] for files of any kind.
package untrusted
