package sbom

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// noAssertion is the value in SPDX for no knowledge or claim.
const noAssertion = "NOASSERTION"

// created is the creation time, which SPDX demands: the lifecycle's time for reproducible images.
const created = "1980-01-01T00:00:01Z"

// encodeSPDX writes an SPDX 2.3 document: a package for the content, which contains a package for each part.
func encodeSPDX(w io.Writer, content Component) error {
	tree := number(content)
	document := spdx.Document{
		SPDXVersion:    spdx.Version,
		DataLicense:    spdx.DataLicense,
		SPDXIdentifier: "DOCUMENT",
		DocumentName:   content.Name,
		// Unique for the content, as SPDX 2.3 (6.5) demands; the address need not resolve.
		DocumentNamespace: fmt.Sprintf("https://github.com/grpc-cnb/health-probe/spdx/%x",
			sha256.Sum256(fmt.Append(nil, content))),
		CreationInfo: &spdx.CreationInfo{
			Created:  created,
			Creators: []common.Creator{{CreatorType: "Tool", Creator: toolName}},
		},
		Relationships: []*spdx.Relationship{spdxRelationship("DOCUMENT", common.TypeRelationshipDescribe, tree)},
	}
	for _, c := range tree.all() {
		document.Packages = append(document.Packages, spdxPackage(c))
		for _, part := range c.parts {
			document.Relationships = append(document.Relationships,
				spdxRelationship(common.ElementID(c.id), common.TypeRelationshipContains, part))
		}
	}
	document.Packages[0].PrimaryPackagePurpose = "APPLICATION"
	return spdxjson.Write(document, w)
}

func spdxPackage(c numbered) *spdx.Package {
	p := &spdx.Package{
		PackageSPDXIdentifier:   common.ElementID(c.id),
		PackageName:             c.Name,
		PackageVersion:          c.Version,
		PackageSourceInfo:       c.Source,
		PackageDownloadLocation: cmp.Or(c.Origin, noAssertion),
		PackageLicenseDeclared:  cmp.Or(c.Licence, noAssertion),
		PackageLicenseConcluded: noAssertion,
		PackageCopyrightText:    noAssertion,
	}
	if c.SHA256 != "" {
		p.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: c.SHA256}}
	}
	if c.PURL != "" {
		p.PackageExternalReferences = []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: c.PURL,
		}}
	}
	return p
}

func spdxRelationship(from common.ElementID, kind string, to numbered) *spdx.Relationship {
	return &spdx.Relationship{
		RefA:         common.DocElementID{ElementRefID: from},
		RefB:         common.DocElementID{ElementRefID: common.ElementID(to.id)},
		Relationship: kind,
	}
}
