// The groups that form the table of fields, and short names for what they read. Private to aacct.
#pragma once

#include <vector>

#include "aacct/fields.h"
#include "proto/gen/api.pb.h"

namespace ares::aacct {

using A = api::AccountingRow;
using R = const Row&;

constexpr int kCpu = A::kCpusFieldNumber, kStarted = A::kStartedFieldNumber,
              kEnded = A::kEndedFieldNumber, kAlloc = A::kAllocatedTresFieldNumber,
              kReq = A::kRequestedTresFieldNumber, kEligible = A::kEligibleFieldNumber,
              kUser = A::kUserCpuFieldNumber, kSystem = A::kSystemCpuFieldNumber,
              kLimit = A::kTimeLimitFieldNumber, kNodes = A::kNodeCountFieldNumber,
              kRss = A::kMaxRssFieldNumber, kDir = A::kWorkDirFieldNumber,
              kArray = A::kArraySpecFieldNumber, kStill = A::kSuspendedFieldNumber,
              kStillSince = A::kSuspendedAtFieldNumber;

std::vector<Field> usage_fields();  // Amounts that were measured.

}  // namespace ares::aacct
