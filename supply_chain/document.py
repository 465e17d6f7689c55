"""Write packages as a CycloneDX document.

This module runs in the environment of `make audit`, which has the library for CycloneDX.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

from cyclonedx.contrib.license.exceptions import InvalidSpdxLicenseException
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from supply_chain.packages import Package

NAMESPACES = {"deb": "debian"}
FACTORY = LicenseFactory()


def document(product: Package, packages: Iterable[Package], seconds: int) -> str:
    """Return the document of a product as JSON. `seconds` is its time, in seconds since 1970.

    The same packages always give the same text: components are sorted, and the serial number is computed from
    the rest of the document.
    """
    root = _component(product)
    bom = Bom(
        serial_number=uuid.UUID(int=0),
        metadata=BomMetaData(component=root, timestamp=datetime.fromtimestamp(seconds, UTC)),
        components=[_component(package) for package in packages],
    )
    bom.register_dependency(root, bom.components)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_OID, _text(bom))
    return _text(bom)


def check(text: str) -> None:
    """Raise ValueError if a document does not follow the schema of CycloneDX."""
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error is not None:
        raise ValueError(f"This is not a CycloneDX document: {error}")


def _text(bom: Bom) -> str:
    return f"{JsonV1Dot6(bom).output_as_string(indent=1)}\n"


def _component(package: Package) -> Component:
    namespace, _, name = package.name.rpartition("/")
    qualifiers = dict(package.qualifiers)
    purl = PackageURL(
        package.kind, namespace or NAMESPACES.get(package.kind), name, package.version, qualifiers
    )
    notes = {"literati:found_in": package.found_in, "literati:marker": package.marker}
    return Component(
        type=ComponentType.CONTAINER if package.kind == "docker" else ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        group=namespace or None,
        name=name,
        version=package.version,
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm(kind), content=digest) for kind, digest in package.hashes],
        licenses=_licences(package.licences),
        properties=[Property(name=key, value=value) for key, value in notes.items() if value],
    )


def _licences(texts: tuple[str, ...]) -> list[object]:
    """Return licences: one may be an expression; several are names, because CycloneDX has one expression."""
    if len(texts) == 1:
        return [FACTORY.make_from_string(texts[0])]
    return [_by_id_or_name(text) for text in texts]


def _by_id_or_name(text: str) -> object:
    try:
        return FACTORY.make_with_id(text)
    except InvalidSpdxLicenseException:
        return FACTORY.make_with_name(text)
