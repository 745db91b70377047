/** The words of the page on which a document is read, and of the link to it. */
import type { PageLanguage } from '../../../src/http/pages/languages.ts';

const en = {
  heading: 'The document',
  pages: 'Pages',
  code: 'Code',
  codeHint: 'Your phone shows the same code.',
  read: 'Read the document',
  back: 'Back to signing',
  download: 'Download the PDF',
  reading: 'The document is being loaded …',
  noScript: 'This browser shows no pages here, because scripts are off. Open the PDF instead.',
  failed: 'This cannot be shown here. Download the PDF and open it with another program.',
  tools: 'How the pages are shown',
  smaller: 'Smaller',
  larger: 'Larger',
  content: 'Pages of the document',
  pageLabel: 'Page {page} of {pages}',
  placeLabel: 'Page {page} of {pages}',
};

export type ReaderWords = typeof en;

const de: ReaderWords = {
  heading: 'Das Dokument',
  pages: 'Seiten',
  code: 'Code',
  codeHint: 'Ihr Telefon zeigt denselben Code.',
  read: 'Dokument lesen',
  back: 'Zurück zum Unterschreiben',
  download: 'PDF herunterladen',
  reading: 'Das Dokument wird geladen …',
  noScript:
    'Dieser Browser zeigt hier keine Seiten, weil Skripte ausgeschaltet sind. Öffnen Sie das PDF.',
  failed:
    'Das kann hier nicht gezeigt werden. Laden Sie das PDF herunter und öffnen Sie es mit einem anderen Programm.',
  tools: 'Darstellung der Seiten',
  smaller: 'Kleiner',
  larger: 'Grösser',
  content: 'Seiten des Dokuments',
  pageLabel: 'Seite {page} von {pages}',
  placeLabel: 'Seite {page} von {pages}',
};

const fr: ReaderWords = {
  heading: 'Le document',
  pages: 'Pages',
  code: 'Code',
  codeHint: 'Votre téléphone affiche le même code.',
  read: 'Lire le document',
  back: 'Retour à la signature',
  download: 'Télécharger le PDF',
  reading: 'Le document est en cours de chargement …',
  noScript:
    'Ce navigateur n’affiche pas de pages ici, car les scripts sont désactivés. Ouvrez le PDF.',
  failed:
    'Cela ne peut pas être affiché ici. Téléchargez le PDF et ouvrez-le avec un autre programme.',
  tools: 'Affichage des pages',
  smaller: 'Plus petit',
  larger: 'Plus grand',
  content: 'Pages du document',
  pageLabel: 'Page {page} sur {pages}',
  placeLabel: 'Page {page} sur {pages}',
};

const it: ReaderWords = {
  heading: 'Il documento',
  pages: 'Pagine',
  code: 'Codice',
  codeHint: 'Il Suo telefono mostra lo stesso codice.',
  read: 'Leggere il documento',
  back: 'Torna alla firma',
  download: 'Scaricare il PDF',
  reading: 'Il documento viene caricato …',
  noScript:
    'Questo browser non mostra pagine qui, perché gli script sono disattivati. Apra il PDF.',
  failed: 'Non può essere mostrato qui. Scarichi il PDF e lo apra con un altro programma.',
  tools: 'Visualizzazione delle pagine',
  smaller: 'Più piccolo',
  larger: 'Più grande',
  content: 'Pagine del documento',
  pageLabel: 'Pagina {page} di {pages}',
  placeLabel: 'Pagina {page} di {pages}',
};

const all: Readonly<Record<PageLanguage, ReaderWords>> = { en, de, fr, it };

export const readerWords = (language: PageLanguage): ReaderWords => all[language];
