"""Prints for each signature of each file what pyHanko says of it, one JSON object a line.

Our certificates are for digital signatures, and do not claim non-repudiation, which pyHanko wants by
default. Hybrid files are judged only when it is not strict.
"""

import json
import sys

from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.settings import KeyUsageConstraints
from pyhanko_certvalidator import ValidationContext


usage = KeyUsageConstraints(key_usage={"digital_signature", "non_repudiation"})


def judge_one(path, embedded, roots):
    context = ValidationContext(trust_roots=roots, allow_fetching=False)
    status = validate_pdf_signature(
        embedded,
        signer_validation_context=context,
        ts_validation_context=context,
        key_usage_settings=usage,
    )
    return {
        "valid": status.valid,
        "intact": status.intact,
        "trusted": status.trusted,
        "bottomLine": status.bottom_line,
        "coverage": status.coverage.name,
        "changes": status.modification_level and status.modification_level.name,
        "why": str(getattr(status, "diff_result", ""))[:200],
        "stamped": status.timestamp_validity is not None
        and status.timestamp_validity.valid
        and status.timestamp_validity.trusted,
    }


def judge(path, roots, strict):
    with open(path, "rb") as handle:
        reader = PdfFileReader(handle, strict=strict)
        for embedded in reader.embedded_signatures:
            try:
                found = judge_one(path, embedded, roots)
            except Exception as error:
                if strict and "hybrid" in str(error):
                    raise
                found = {"error": f"{type(error).__name__}: {error}"[:300]}
            yield {"path": path, "field": embedded.field_name, **found}


trust = [load_cert_from_pemder(sys.argv[1])]
for each in sys.argv[2:]:
    for strict in (True, False):
        try:
            lines = [json.dumps(line) for line in judge(each, trust, strict)]
            break
        except Exception as error:  # whatever the file makes of it
            lines = [json.dumps({"path": each, "error": f"{type(error).__name__}: {error}"[:300]})]
    print("\n".join(lines))
