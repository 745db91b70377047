/** Opens the pages on which signers read documents. */
import type { AdditionPageRooms, AdditionPages } from '../../processes/index.ts';
import type { DocumentShapes } from '../configuration.ts';
import { openDocuments } from '../open.ts';
import { createReaderPages } from './reader-pages.ts';

export const openReaderPages = async (
  rooms: AdditionPageRooms<DocumentShapes>,
): Promise<AdditionPages> => {
  const { documents } = await openDocuments(rooms);
  return createReaderPages(rooms, documents);
};
