export {
  createMemoryStore as createMemoryCustodyStore,
  type MemoryStore as MemoryCustodyStore,
} from '../../src/pki/memory-store.ts';
