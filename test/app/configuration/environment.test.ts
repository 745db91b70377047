import { describe, expect, it } from 'vitest';
import { environmentSchema, readEnvironment } from '../../../src/environment/environment.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64url');

describe('the environment', () => {
  it('has defaults for what a fresh clone needs', () => {
    expect(readEnvironment({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      configurationPath: undefined,
      dataDirectory: '.paraph',
      redisUrl: undefined,
      masterKey: undefined,
      newAuthority: undefined,
      logLevel: 'info',
      redisServer: 'redis-server',
      variables: {},
    });
  });

  it('is read from the variables, and others are ignored', () => {
    const environment = readEnvironment({
      PORT: '0',
      HOST: '0.0.0.0',
      PARAPH_CONFIG: '/etc/paraph.json',
      PARAPH_DATA: '/var/lib/paraph',
      REDIS_URL: 'rediss://user:secret@redis.example:6380/1',
      PARAPH_MASTER_KEY: masterKey,
      PARAPH_NEW_AUTHORITY: '0',
      PARAPH_LOG_LEVEL: 'debug',
      PARAPH_NO_DOWNLOAD: '1',
      PARAPH_REDIS_SERVER: '/opt/redis-server',
      HOME: '/root',
    });
    expect(environment).toEqual({
      port: 0,
      host: '0.0.0.0',
      configurationPath: '/etc/paraph.json',
      dataDirectory: '/var/lib/paraph',
      redisUrl: 'rediss://user:secret@redis.example:6380/1',
      masterKey,
      newAuthority: false,
      logLevel: 'debug',
      redisServer: '/opt/redis-server',
      variables: {},
    });
  });

  it('has further variables of this name for parts, without the empty ones', () => {
    const { variables } = readEnvironment({
      PARAPH_OF_A_PART: 'one',
      PARAPH_EMPTY: '',
      PARAPH_DATA: '/var/lib/paraph',
      OTHER: 'two',
    });
    expect(variables).toEqual({ PARAPH_OF_A_PART: 'one' });
  });

  it('takes an empty variable for an unset one, but for the master key', () => {
    expect(readEnvironment({ PORT: '', REDIS_URL: '' })).toMatchObject({
      port: 8080,
      redisUrl: undefined,
    });
    expect(() => readEnvironment({ PARAPH_MASTER_KEY: '' })).toThrow(
      /^PARAPH_MASTER_KEY must be base64url/,
    );
  });

  it.each([
    ['1', true],
    ['false', false],
    ['wait', 'wait'],
  ])('says with PARAPH_NEW_AUTHORITY=%s who makes the authority', (value, newAuthority) => {
    expect(readEnvironment({ PARAPH_NEW_AUTHORITY: value }).newAuthority).toBe(newAuthority);
  });

  it.each([
    'redis://localhost',
    'unix:/run/redis.sock',
    'rediss://:pw@a.example:6379, rediss://b.example:6379',
  ])('takes %s for an address of Redis', (address) => {
    expect(readEnvironment({ REDIS_URL: address }).redisUrl).toBe(address);
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80a'],
    ['PORT', '-1'],
    ['REDIS_URL', 'http://user:hunter2@redis.example'],
    ['REDIS_URL', '/run/hunter2.sock'],
    ['REDIS_URL', 'redis://a,hunter2'],
    ['PARAPH_MASTER_KEY', 'hunter2'],
    ['PARAPH_MASTER_KEY', `${masterKey}=`],
    ['PARAPH_NEW_AUTHORITY', 'perhaps'],
    ['PARAPH_LOG_LEVEL', 'loud'],
    ['PARAPH_NO_DOWNLOAD', 'perhaps'],
  ])('with a bad %s is an error that names the variable and not its value', (name, value) => {
    const read = () => readEnvironment({ [name]: value });
    expect(read).toThrow(new RegExp(`^${name} must be `));
    expect(read).not.toThrow(value);
  });

  it('names every bad variable at once', () => {
    expect(() => readEnvironment({ PORT: 'x', PARAPH_LOG_LEVEL: 'y' })).toThrow(
      /PORT .*; PARAPH_LOG_LEVEL /,
    );
  });

  it('says of every variable what it is for and what it must be', () => {
    for (const schema of Object.values(environmentSchema.shape)) {
      expect(schema.meta()).toMatchObject({
        description: expect.any(String),
        hint: expect.any(String),
      });
    }
  });
});
