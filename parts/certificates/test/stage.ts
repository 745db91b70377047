/** A custody whose clock can be set, and what is published of it. */
import { service as custodyService } from '../../../packages/pki/test/revocation-stage.ts';
import { pointersUnder } from '../pointers.ts';
import { createPublisher } from '../publisher.ts';

export const service = (start?: number) => {
  const made = custodyService(start, pointersUnder('http://pki.test'));
  const { custody, clock } = made;
  return { ...made, publisher: createPublisher({ custody, now: () => clock.now }) };
};
