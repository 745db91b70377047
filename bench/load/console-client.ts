/** A person at the console's API, one request at a time. */
import { hashPassword } from '../../src/registry/passwords.ts';

const name = 'bench';
const password = 'a password for a benchmark';

/** Configuration of a service that lets this person in. */
export const withOnlooker = async () => ({
  operations: { users: [{ name, role: 'operator', passwordHash: await hashPassword(password) }] },
});

/** @returns What asks the API; it throws when the answer is anything but 200. */
export const logInAt = async (origin: string): Promise<(path: string) => Promise<unknown>> => {
  const login = await fetch(`${origin}/admin/login`, {
    method: 'POST',
    body: new URLSearchParams({ name, password }),
    redirect: 'manual',
  });
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0];
  if (login.status !== 303 || cookie === undefined) throw new Error(`The login was answered ${login.status}`);
  return async (path) => {
    const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
    if (answer.status !== 200) throw new Error(`${path.split('?')[0]} was answered ${answer.status}`);
    return answer.json();
  };
};
