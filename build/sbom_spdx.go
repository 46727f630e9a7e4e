package build

import (
	"cmp"
	"io"
	"strconv"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// noAssertion is how SPDX says that nothing is said.
const noAssertion = "NOASSERTION"

// created is the time SPDX demands of a document: the one the lifecycle gives to reproducible images.
const created = "1980-01-01T00:00:01Z"

// encodeSPDX writes an SPDX 2.3 document: the program, and a package for each module it links, which it contains.
func encodeSPDX(w io.Writer, probe Probe) error {
	program := spdxPackage("program", mainModule(probe))
	program.PackageName = programName
	program.PackageSourceInfo = probe.Source
	program.PackageDownloadLocation = cmp.Or(probe.Origin, noAssertion)
	program.PrimaryPackagePurpose = "APPLICATION"
	program.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: probe.SHA256}}

	document := spdx.Document{
		SPDXVersion:    spdx.Version,
		DataLicense:    spdx.DataLicense,
		SPDXIdentifier: "DOCUMENT",
		DocumentName:   programName,
		// Unique for the content, as SPDX 2.3 (6.5) demands; it need not resolve.
		DocumentNamespace: "https://github.com/grpc-cnb/health-probe/spdx/" + probe.SHA256,
		CreationInfo: &spdx.CreationInfo{
			Created:  created,
			Creators: []common.Creator{{CreatorType: "Tool", Creator: toolName}},
		},
		Packages:      []*spdx.Package{program},
		Relationships: []*spdx.Relationship{spdxRelationship("DOCUMENT", common.TypeRelationshipDescribe, program)},
	}
	for i, m := range modules(probe) {
		linked := spdxPackage(common.ElementID("module-"+strconv.Itoa(i)), m)
		document.Packages = append(document.Packages, linked)
		document.Relationships = append(document.Relationships,
			spdxRelationship(program.PackageSPDXIdentifier, common.TypeRelationshipContains, linked))
	}
	return spdxjson.Write(document, w)
}

func spdxPackage(id common.ElementID, m module) *spdx.Package {
	return &spdx.Package{
		PackageSPDXIdentifier:   id,
		PackageName:             m.name,
		PackageVersion:          m.version,
		PackageDownloadLocation: noAssertion,
		PackageLicenseDeclared:  cmp.Or(m.licence(), noAssertion),
		PackageLicenseConcluded: noAssertion,
		PackageCopyrightText:    noAssertion,
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager,
			RefType:  common.TypePackageManagerPURL,
			Locator:  m.purl(),
		}},
	}
}

func spdxRelationship(from common.ElementID, kind string, to *spdx.Package) *spdx.Relationship {
	return &spdx.Relationship{
		RefA:         common.DocElementID{ElementRefID: from},
		RefB:         common.DocElementID{ElementRefID: to.PackageSPDXIdentifier},
		Relationship: kind,
	}
}
