/** The field of the seal with the evidence record. */
export const evidenceField = 'paraph-evidence';
