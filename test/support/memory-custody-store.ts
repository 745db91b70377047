export {
  createMemoryStore as createMemoryCustodyStore,
  type MemoryStore as MemoryCustodyStore,
} from '../../packages/pki/src/memory-store.ts';
