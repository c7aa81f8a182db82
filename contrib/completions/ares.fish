# Completion of Ares's commands for fish: source this file from config.fish, or install it in a folder of vendor_completions.d.
# The commands say themselves which options they have, so nothing here needs to follow them.

for command in asub acheckpoint arun aalloc aattach abcast aqueue acancel aacct aeff await astat aacctmgr ainfo actl areport ashare aprio
    complete -c $command -n 'string match -q -- "-*" (commandline -ct)' -a "($command --help-completion 2>/dev/null)"
end
