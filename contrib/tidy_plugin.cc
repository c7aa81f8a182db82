// A plugin of clang-tidy that keeps its checks out of the headers of libraries. clang-tidy matches every declaration that it read, and
// hides what it finds in system headers; these are nine tenths of most sources, and of the time. Built and loaded by check_tidy.py.
#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>
#include <clang/ASTMatchers/ASTMatchers.h>
#include <clang/Basic/SourceManager.h>

#include <vector>

namespace {

// Matches the whole source, which comes before all that is in it, and takes what belongs to libraries out of the search.
class OwnSources : public clang::tidy::ClangTidyCheck {
 public:
  using ClangTidyCheck::ClangTidyCheck;
  void registerMatchers(clang::ast_matchers::MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl(), this);
  }
  void check(const clang::ast_matchers::MatchFinder::MatchResult& result) override {
    std::vector<clang::Decl*> own;
    for (clang::Decl* one : result.Context->getTranslationUnitDecl()->noload_decls()) {
      const clang::SourceLocation at = one->getLocation();
      // What is from an AST file is in the precompiled header.
      if (one->isFromASTFile() || at.isInvalid() || result.SourceManager->isInSystemHeader(at))
        continue;
      own.push_back(one);
    }
    result.Context->setTraversalScope(own);
  }
};

class OwnModule : public clang::tidy::ClangTidyModule {
 public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    factories.registerCheck<OwnSources>("ares-own-sources");
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<OwnModule> kRegistered("ares", "");

}  // namespace
