#compdef cofferctl
# zsh completion for cofferctl, written by `cofferctl completion zsh`; to use it: put it as _cofferctl into a directory of $fpath
_cofferctl() {
    local where= kind= current=$words[CURRENT] previous=$words[CURRENT-1]
    local -a options commands
    (( CURRENT > 2 )) && where=$words[2]
    case $where in
        (config|import|stores) (( CURRENT > 3 )) && where+=" $words[3]" ;;
    esac
    case "$where:$previous" in
        ('recall:--mode') kind='keyword grep vector hybrid' ;;
        ('recall:-k'|'recall:--since'|'remember:--title'|'remember:--description'|'remember:--agent'|'remember:--session'|'digest:--since'|'list:--limit'|'list:--sort'|'log:--actor'|'log:--event'|'log:--since'|'log:-n'|'show:--at'|'edit:--title'|'edit:--description'|'edit:--expect'|'restore:--from'|'review:--since'|'supersede:--title'|'supersede:--description'|'supersede:--agent'|'supersede:--session') kind='any' ;;
        ('recall:--lane') kind='inbox topics journal knowledge' ;;
        ('recall:--scope'|'remember:--scope'|'blame:--scope'|'diff:--scope'|'digest:--scope'|'list:--scope'|'log:--scope'|'show:--scope'|'status:--scope'|'edit:--scope'|'forget:--scope'|'move:--scope'|'restore:--scope'|'review:--scope'|'supersede:--scope'|'undo:--scope'|'doctor:--scope'|'export:--scope'|'import jsonl:--scope'|'import markdown:--scope'|'reindex:--scope') kind='project global both' ;;
        ('recall:--store'|'remember:--store'|'blame:--store'|'diff:--store'|'digest:--store'|'list:--store'|'log:--store'|'show:--store'|'status:--store'|'edit:--store'|'forget:--store'|'move:--to'|'move:--store'|'restore:--store'|'review:--store'|'supersede:--store'|'undo:--store'|'doctor:--store'|'export:--store'|'import jsonl:--store'|'import markdown:--store'|'reindex:--store') kind='store' ;;
        ('recall:-C'|'remember:-C'|'blame:-C'|'diff:-C'|'digest:-C'|'list:-C'|'log:-C'|'show:-C'|'status:-C'|'where:-C'|'edit:-C'|'forget:-C'|'move:-C'|'restore:-C'|'review:-C'|'supersede:-C'|'undo:-C'|'completion:-C'|'config get:-C'|'config set:-C'|'config list:-C'|'doctor:-C'|'export:-C'|'import jsonl:-C'|'import markdown:-C'|'reindex:-C'|'stores list:-C'|'stores show:-C'|'stores link:-C'|'stores label:-C'|'stores config:-C'|'stores clear:-C'|'stores delete:-C') kind='directory' ;;
        ('remember:--actor') kind='user agent' ;;
        ('list:--lane'|'log:--lane'|'export:--lane'|'stores clear:--lane') kind='inbox topics knowledge rules journal handoff superseded all' ;;
        ('export:--format') kind='jsonl markdown' ;;
        ('export:--output') kind='file' ;;
    esac
    if [[ -z $kind ]]; then
        case $where in
            ('')
                commands=('recall:Search the memory, best answer first' 'remember:Store a fact, as one commit' 'blame:Show who taught each line of a fact, and when' 'diff:Show how the memory differs between two moments' 'digest:Show what was learnt, changed and forgotten lately, and by whom' 'list:List the facts there are, newest first' 'log:Show who taught the memory what, and when' 'show:Show one fact, whole' 'status:Show how the stores used from here are' 'where:Show which stores are used from here, and why' 'edit:Change a fact'\''s text, title or description' 'forget:Forget facts; `restore` and `undo` bring them back' 'move:Move a fact to another store' 'restore:Bring back a forgotten or changed fact' 'review:Look at what agents stored lately, one fact at a time' 'supersede:Put a new fact in an old one'\''s place' 'undo:Take back one operation, whole' 'completion:Print a script that lets your shell complete commands, options and store names' 'config:See and change the settings of this machine' 'doctor:Look for what is wrong with the memory, and say what mends it' 'export:Give facts out, for other programs or another memory' 'import:Store many facts from a file' 'reindex:Bring the search index up to date' 'stores:See, name, set up, clear and delete stores, and say which project uses which')
                options=('--version:Print the version and exit' '--help:Show this help') ;;
            ('recall')
                kind='any'
                options=('--mode:keyword, grep, vector or hybrid' '-k:Answers at most, 1 to 20' '--lane:inbox, topics, journal or knowledge (repeatable)' '--since:2026-06-09, 7d, 2w, yesterday' '--explain:Say why each answer is there' '--regex:grep: a regular expression' '--ignore-case:grep: either' '--case-sensitive:grep: either' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('remember')
                kind='any'
                options=('--title:Its title; else its first sentence' '--description:One line about it' '--actor:Who says so' '--agent:The agent program' '--session:The agent'\''s session' '--allow-secret:Store what looks like a secret' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('blame')
                kind='any'
                options=('--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('diff')
                kind='any'
                options=('--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('digest')
                options=('--since:Where to begin' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('list')
                options=('--lane:inbox, topics, knowledge, rules, journal, handoff, superseded or all' '--limit:Facts at most' '--sort:updated, created or title' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('log')
                kind='any'
                options=('--lane:Only commits in this lane' '--actor:user, agent or outside' '--event:memory_added, outside_edit, …' '--since:2026-06-09, 7d, 2w, yesterday' '-n:Commits at most; else 100' '-p:Show what each of them changed' '--patch:Show what each of them changed' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('show')
                kind='any'
                options=('--at:As it was then' '--raw:The file itself' '--reveal:Do not mask secrets' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('status')
                options=('--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('where')
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('edit')
                kind='any'
                options=('--title:The new title' '--description:The new description' '--expect:Only if it still is as in COMMIT' '--allow-secret:Store what looks like a secret' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('forget')
                kind='any'
                options=('--yes:Do not ask' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('move')
                kind='any'
                options=('--to:project, global or a store'\''s name' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('restore')
                kind='any'
                options=('--from:As it was then' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('review')
                options=('--since:2026-06-09, 7d, 2w, yesterday' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('supersede')
                kind='any'
                options=('--title:Its title; else its first sentence' '--description:One line about it' '--agent:The agent program' '--session:The agent'\''s session' '--allow-secret:Store what looks like a secret' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('undo')
                kind='any'
                options=('--dry-run:Only show it' '--yes:Do not ask' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('completion')
                kind='bash zsh fish'
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('config')
                commands=('get:Print one setting as it counts here' 'set:Change one setting; everything else in config.toml stays' 'list:Print every setting and where it comes from')
                options=('--help:Show this help') ;;
            ('config get')
                kind='any'
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('config set')
                kind='any'
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('config list')
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('doctor')
                options=('--fix:Mend what can be mended safely' '--yes:With --fix, commit many deletions at once, too' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('export')
                options=('--format:What to give out' '--output:A new file, or for markdown a new directory' '--lane:One lane, knowledge or all; else knowledge, for markdown all' '--reveal:Do not mask secrets' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('import')
                commands=('jsonl:Import JSON Lines: one object a line, `text` required' 'markdown:Import Markdown: a file, or every *.md below a directory, each of them one fact')
                options=('--help:Show this help') ;;
            ('import jsonl')
                kind='file'
                options=('--dry-run:Only check and count' '--allow-secret:Take what looks like a secret' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('import markdown')
                kind='file'
                options=('--dry-run:Only check and count' '--allow-secret:Take what looks like a secret' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('reindex')
                options=('--full:Build it from nothing' '--scope:project, global or both' '--store:One store, as `stores list` names it' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores')
                commands=('list:List every store on this machine' 'show:Show one store: its lanes, its projects, its settings' 'link:Let the project here use an existing store; the one it leaves stays' 'label:Give a store a name for people' 'config:List, print or set its own settings' 'clear:Forget everything in a lane' 'delete:Delete a store for good')
                options=('--help:Show this help') ;;
            ('stores list')
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores show')
                kind='store'
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores link')
                kind='store'
                options=('--yes:Do not ask' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores label')
                kind='store'
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores config')
                kind='store'
                options=('-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores clear')
                kind='store'
                options=('--lane:inbox, topics, knowledge, rules, journal, handoff, superseded or all' '--yes:Do not ask' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
            ('stores delete')
                kind='store'
                options=('--yes:Do not ask' '-C:Stand in DIR' '--json:Answer with one JSON document' '-q:No notices, no progress' '--quiet:No notices, no progress' '--debug:Show a traceback when something fails' '--no-color:No colours' '--help:Show this help') ;;
        esac
        if [[ $current == -* ]]; then
            _describe -o option options
            return
        fi
        if (( $#commands )); then
            _describe command commands
            return
        fi
    fi
    case $kind in
        (store) compadd -- ${(f)"$(cofferctl stores list 2>/dev/null | cut -f1)"} ;;
        (file) _files ;;
        (directory) _files -/ ;;
        (any) ;;
        (?*) compadd -- ${=kind} ;;
    esac
}

if [[ $funcstack[1] == _cofferctl ]]; then
    _cofferctl "$@"
else
    compdef _cofferctl cofferctl
fi
