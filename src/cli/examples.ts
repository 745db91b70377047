/** Examples at the end of a command's `--help`. */
import type { Command } from 'commander';

/** Examples by command, each without `paraph` and the command. */
type Examples = Readonly<Record<string, readonly string[]>>;

const examples: Examples = {
  sign: [
    '+41700092501 "Sign in to Example?"',
    '+41700092501 "Pay 10 CHF?" --trust root.pem --json',
  ],
  status: ['H00iYL8VL0XkSrARJXEh --wait --text "Sign in to Example?"'],
  receipt: ['H00iYL8VL0XkSrARJXEh +41700092503 "Your order is on its way"'],
  ls: ['--state open', '--state failed --fault 208,209 --since 2h', '--state failed --json'],
  show: ['H00iYL8VL0XkSrARJXEh --reveal'],
  cancel: ['H00iYL8VL0XkSrARJXEh --reason "Wrong customer"'],
  watch: ['', 'H00iYL8VL0XkSrARJXEh'],
  replay: [
    'H00iYL8VL0XkSrARJXEh',
    '--fault 209 --since 1h --dry-run',
    '--fault 209 --since 1h --reason "Gateway was down"',
  ],
  audit: ['--action replay --from 7d'],
  stats: ['--hours 24'],
  'users add': ['anna --role operator', 'anna --role operator --msisdn +41700092501'],
  'users token': ['anna --label "Deploy script" --days 30'],
  'clients add': ['--id shop --name Shop --redirect-uri https://shop.example/'],
  'keys rotate': ['--tenant default'],
  'config check': ['paraph.json'],
  completion: ['bash > ~/.local/share/bash-completion/completions/paraph'],
};

/** @param more The examples of parts, in the same form as {@link examples}. */
export const addExamples = (command: Command, more: Examples, name = ''): void => {
  for (const each of command.commands) addExamples(each, more, `${name} ${each.name()}`.trim());
  const lines = (examples[name] ?? more[name])?.map((args) => `  paraph ${name} ${args}`.trimEnd());
  if (lines !== undefined) command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
};
