/**
 * A few words about each operation of the admin API, for its OpenAPI document.
 * docs/operations/console.md has the details.
 */
export const apiWords: Readonly<Record<string, string>> = {
  'GET /session': 'Who asks, and with which role',
  'GET /overview': 'Counts of the last hours',
  'GET /events': 'Follow which transactions change',
  'GET /openapi.json': 'This document',

  'GET /transactions': 'List transactions',
  'GET /transactions/:id': 'Show a transaction',
  'GET /transactions/:id/events': 'Follow a transaction',
  'POST /transactions/:id/replay': 'Replay a failed transaction',
  'POST /transactions/:id/cancel': 'Cancel an open transaction',

  'POST /replays/plan': 'See what a bulk replay would do',
  'POST /replays': 'Start a bulk replay',
  'GET /replays': 'List bulk replays',
  'GET /replays/:id': 'Show a bulk replay and what became of each transaction',
  'GET /replays/:id/progress': 'Show how far a bulk replay is',
  'POST /replays/:id/stop': 'Stop a bulk replay',

  'GET /workflows': 'List instances of workflows',
  'GET /workflows/:id': 'Show an instance of a workflow',
  'POST /workflows/:id/cancel': 'Cancel an instance',
  'POST /workflows/:id/again': 'Ask a signer of a process once more',
  'POST /workflows/:id/events': 'Send an event to an instance',
  'POST /workflows/:id/replay': 'Replay a failed instance',

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

  'GET /subscribers/:msisdn': 'List the phones of a number',
  'POST /subscribers/:msisdn/invitations': 'Make a link that enrols a phone',
  'DELETE /subscribers/:msisdn/phones/:id': 'Remove a phone',

  'GET /certificates': 'List certificates of a number, or show one',
  'POST /certificates/revoke': 'Revoke certificates',
  'POST /certificates/renew': 'Let devices with a revoked certificate have a new key',
  'POST /certificates/reassign': 'Give a number to a new owner',
  'GET /authorities': 'List roots and issuing authorities',
  'POST /authorities/roll-over': 'Make the next authority',

  'GET /clients/:id': 'Show the secrets of an OpenID client, without their values',
  'POST /clients/:id': 'Rotate or end the secrets and tokens of an OpenID client',
  'GET /keys': 'List the keys that sign ID tokens',
  'POST /keys/rotate': 'Make new keys for ID tokens',
};
