/**
 * A few words about each operation of the admin API, for its OpenAPI document.
 * docs/operations/console.md has the details.
 */
export const apiWords: Readonly<Record<string, string>> = {
  'GET /session': 'Who asks, and with which role',
  'GET /overview': 'Counts of the last hours, and what needs a person now',
  'GET /events': 'Follow which transactions change',
  'GET /openapi.json': 'This document',

  'GET /transactions': 'List transactions',
  'GET /transactions/:id': 'Show a transaction',
  'GET /transactions/:id/events': 'Follow a transaction',
  'POST /transactions/:id/replay': 'Replay a failed transaction',
  'POST /transactions/:id/cancel': 'Cancel an open transaction',

  'POST /replays/plan': 'See what a bulk replay would do',
  'POST /replays': 'Start a bulk replay',
  'GET /replays': 'List bulks',
  'GET /replays/:id': 'Show a bulk and what became of each item',
  'GET /replays/:id/progress': 'Show how far a bulk is',
  'POST /replays/:id/stop': 'Stop a bulk',

  'GET /refusals': 'Show refused requests',
  'GET /processes': 'List the APIs and workers that run',
  'GET /queues': 'Show how much waits in each queue',
  'GET /aps': 'List the application providers of the configuration',
  'GET /audit': 'List what operators have done',
  'POST /index/rebuild': 'Make the search index anew',

  'GET /users': 'List operators',
  'POST /users': 'Add an operator',
  'PUT /users/:name/role': 'Change the role of an operator',
  'PUT /users/:name/phone': 'Let an operator log in with a phone',
  'DELETE /users/:name/phone': 'Take the phone of an operator away',
  'DELETE /users/:name': 'Remove an operator',
  'POST /users/:name/tokens': 'Make a token for a program',
  'GET /tokens': 'List tokens',
  'DELETE /tokens/:id': 'End a token',
  'POST /subject': 'Compute the subject of a number at the OpenID provider',
  'DELETE /links':
    'End all sessions and links of those who are no users: `local`, and people of the OpenID provider',

  'GET /clients/:id': 'Show the secrets of an OpenID client, without their values',
  'POST /clients/:id': 'Rotate or end the secrets and tokens of an OpenID client',
  'GET /keys': 'List the keys that sign ID tokens',
  'POST /keys/rotate': 'Make new keys for ID tokens',
};
