# A shelf in the cloud. resource "fake" "no" {
terraform {
  required_version = ">= 1.6"

  backend "s3" {
    bucket = "shelf-state"
  }
}

variable "limit" {
  type    = number
  default = 12

  validation {
    condition     = var.limit > 0
    error_message = "resource \"nothing\" \"here\" {"
  }
}

locals {
  tags = {
    app = "shelf"
  }
}

data "aws_ami" "base" {
  most_recent = true
}

// Where it runs.
resource "aws_instance" "web" {
  ami   = data.aws_ami.base.id
  count = var.limit

  root_block_device {
    volume_size = 20
  }

  user_data = <<-TEXT
    variable "neither" {
    }
  TEXT

  tags = local.tags
}

module "network" {
  source = "./network"
}

output "address" {
  value = aws_instance.web[*].public_ip
}
